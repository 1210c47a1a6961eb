# All of these are found in one run.
variable "name" { default = "x" }
locals {
  greeting = "hi"
}
resource "file" "motd" {
  a = var.nmae
  b = local.greting
  c = uper("x")
  d = file.mtod.path
  e = fil.motd.path
  f = name
  g = greeting
  h = hello
  i = [for item in [1] : itme]
  j = var.other
}
