resource "file" "a" {
  path = "/a"
}
resource "thing" "b" {
  value = file.a.pth
  other = try(file.a.none, "x")
}
