# A local may be used before it is defined, and blocks may stand in any order.
resource "thing" "b" {
  value = local.late
  meta { require = [thing.c] }
}
locals {
  late = local.later + 1
}
locals { later = var.n }
resource "thing" "c" {}
variable "n" { default = 1 }
manifest { name = "ordered" }
