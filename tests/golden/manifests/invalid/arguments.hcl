locals {
  a = upper()
  b = lookup({}, "a", 1, 2)
  c = format()
  d = ns::upper("x")
  e = upper("a", "b")
}
