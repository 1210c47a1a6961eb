resource "file" "a" {
  path = "/x"
  mode = "0644"
  path = "/y"
}
