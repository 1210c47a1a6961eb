locals {
  a = "${local.b}x"
  b = [local.c]
  c = { x = local.a }
  alone = local.alone
}
