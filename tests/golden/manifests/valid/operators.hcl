resource "thing" "operators" {
  arithmetic = [1 + 2 * 3, (1 + 2) * 3, 7 / 2, 7 % 3, -7 % 3, 1 - 2 - 3, -(2)]
  comparison = [1 < 2, 2 <= 2, 3 > 4, 4 >= 5]
  equality   = [1 == 1.0, "1" == 1, [1, 2] == [1, 2], { a = 1 } != { a = 1 }, null == null, null == ""]
  logic      = [true && false, true || false, !true, false && 1 / 0 == 1, true || 1 / 0 == 1]
  choice     = [true ? "yes" : 1 / 0, 1 > 2 ? "a" : 2 > 1 ? "b" : "c"]
  precedence = [1 + 1 == 2 && 2 * 2 == 4 || false]
  members    = [{ a = { b = [10, 20] } }.a.b[1], ["x", "y"][0], { "k k" = 1 }["k k"]]
}
