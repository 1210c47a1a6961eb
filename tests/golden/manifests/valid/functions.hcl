resource "thing" "functions" {
  text    = [upper("a"), trimspace(" b "), replace("a-b", "-", "_"), format("%s is %03d", "x", 7), join(",", ["a", "b"])]
  lists   = [length([1, 2]), concat([1], [2]), distinct([1, 1]), sort(["b", "a"]), flatten([[1], [[2]]])]
  objects = [keys({ b = 1, a = 2 }), merge({ a = 1 }, { a = 2 }), lookup({ a = 1 }, "b", 0)]
  numbers = [min(3, 1), max([1, 5, 2]...), floor(1.5), ceil(1.2), abs(-1)]
  codecs  = [jsonencode({ b = [1, null], a = "<" }), jsondecode("[1]"), base64encode("hi"), base64decode("aGk=")]
  pattern = [regex("(?P<major>\\d+)\\.(?P<minor>\\d+)", "v1.22"), regexall("[0-9]", "a1b2")]
  convert = [tostring(1), tonumber("2.5"), tobool("true")]
  trying  = [try([][0], "none"), can(1 / 0), can(1), try({ a = 1 }.b, { a = 1 }.a)]
  expand  = [concat([[1], [2], [3]]...), format("%s%s", ["a", "b"]...)]
  indented = indent(2, "a\nb")
}
