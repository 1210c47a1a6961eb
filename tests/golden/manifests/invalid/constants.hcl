variable "a" { default = upper("x") }
variable "b" { default = "${local.x}" }
variable "c" { sensitive = "yes" }
variable "d" { default = [var.a] }
manifest {
  name = var.a
}
