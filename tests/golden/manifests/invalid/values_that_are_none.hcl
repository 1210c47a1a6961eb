resource "file" "a" {
  a = var
  b = local
  c = facts
  d = file
  e = file.b
  f = file.a.path
  g = var[0]
}
resource "file" "b" {}
