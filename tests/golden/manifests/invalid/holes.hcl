# What is wrong is told once, and all that does not hang on it is looked at.
manifest {
  name = "no name"
}
variable "wrong" {
  type    = string
  default = local.none
}
variable "missing" {}
locals {
  hole = [var.none, upper()]
  uses = "${local.hole[0]} ${var.wrong} ${var.missing}"
  none = 1 / 0
}
resource "data" "reserved" {}
resource "file" "bad name" {}
resource "file" "a" {
  hole     = local.uses
  default  = try(var.none, "x")
  reserved = data.reserved.path
  name     = file["bad name"].path
  wrong    = [][1]
  meta {
    require = [data.reserved, file["bad name"]]
    control {
      if     = var.none
      unless = [][2]
    }
  }
}
resource "file" "b" {
  a = file.a.hole
  b = file.a.wrong
  c = "${1 + true}"
}
