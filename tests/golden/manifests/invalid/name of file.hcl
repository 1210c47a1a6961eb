resource "file" "a" {}
