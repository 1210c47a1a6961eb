locals {
  ports = { http = 80, https = 443 }
  rows  = [{ kind = "a", n = 1 }, { kind = "b", n = 2 }, { kind = "a", n = 3 }]
}

resource "thing" "loops" {
  list        = [for n in [1, 2, 3] : n * 10]
  indexed     = [for i, n in ["a", "b"] : "${i}${n}"]
  filtered    = [for n in range(10) : n if n % 3 == 0]
  from_object = [for name, port in local.ports : "${name}=${port}"]
  object      = { for name, port in local.ports : upper(name) => port + 1 if port > 100 }
  grouped     = { for row in local.rows : row.kind => row.n... }
  nested      = [for x in [1, 2] : [for y in [10, 20] : x * y]]
  shadowed    = [for x in [[1], [2]] : [for x in x : x]]
  splat       = local.rows[*].n
  splat_index = [[1, 2], [3, 4]][*][0]
  attr_splat  = local.rows.*.kind
  splat_null  = null[*]
  splat_one   = "x"[*]
  legacy      = ["a", "b"].1
}
