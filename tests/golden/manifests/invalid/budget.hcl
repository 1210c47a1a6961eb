locals {
  n = range(60000)
  a = length([for x in local.n : [for y in local.n : x * y]])
}
