resource "file" "a" {
  path = "/a${file.b.path}"
}
resource "file" "b" {
  path = local.through
}
resource "file" "c" {
  path = "/c"
  content = file.d.content
}
resource "file" "d" {
  content = file.c.path
}
locals {
  through = file.a.path
}
