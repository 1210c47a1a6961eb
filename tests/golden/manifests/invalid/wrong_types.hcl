# A wrong value is never quoted: it might be a secret.
variable "token" {
  type      = string
  default   = "hush"
  sensitive = true
}
resource "thing" "a" {
  a = 1 + "2"
  b = var.token + 1
  c = !1
  d = -"x"
  e = "text ${[1]}"
  f = "text ${null}"
  g = 1 ? 2 : 3
  h = true && var.token
  i = upper(1)
  j = { (1) = 2, (null) = 1 }
  k = [for x in var.token : x]
  l = { for x in ["a", "a"] : x => 1 }
  m = 1 / 0
  n = "x".y
  o = {}.missing
  p = [1][1]
  q = [1]["0"]
  r = { a = 1 }[0]
  s = var.token[0]
  t = tonumber(var.token)
  u = jsondecode(var.token)
  v = regex("(", "x")
  w = max(3, "x")
  x = concat(1...)
  y = upper([]...)
  z = [for x in [1] : x if x]
}
