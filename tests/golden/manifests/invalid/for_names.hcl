locals {
  a = [for x, x in [1] : x]
  b = [for var in [1] : var]
  c = [for x in [1] : y]
  d = x
}
