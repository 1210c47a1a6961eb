variable {}
variable "a" "b" {}
resource "file" {}
resource {}
locals "x" {}
manifest "x" {}
variable "1a" {}
resource "File" "a" {}
resource "file" "a/b" {}
resource "var" "a" {}
