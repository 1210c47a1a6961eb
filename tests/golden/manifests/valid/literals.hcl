# Every way to write a value down.
manifest {
  name     = "literal-values"
  serial   = 7
  audience = ["web", "db"]
}

resource "thing" "all" {
  null_value  = null
  flag        = true
  whole       = 9007199254740992
  negative    = -5
  fraction    = 0.5
  exponent    = 1e3
  text        = "tab\tquote\" backslash\\ unicode\u00e9 dollar$${x} percent%%{x}"
  list        = [1, "two", [3], ]
  object      = { a = 1, "b c" : 2, 3 = "three" }
  empty_list  = []
  empty_object = {}
  multiline = {
    x = 1
    y = 2 # comment
    // comment
    z = [
      1,
      /* inner */ 2,
    ]
  }
}
