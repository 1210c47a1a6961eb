locals {
  a = join("", [for i in range(1000) : "0123456789012345678901234567890123456789"])
  b = [local.a, local.a, local.a, local.a, local.a, local.a, local.a, local.a, local.a, local.a]
  c = [local.b, local.b, local.b, local.b, local.b, local.b, local.b, local.b, local.b, local.b]
  d = [local.c, local.c, local.c, local.c, local.c, local.c, local.c, local.c, local.c, local.c]
  e = [local.d, local.d, local.d, local.d, local.d, local.d, local.d, local.d, local.d, local.d]
}
