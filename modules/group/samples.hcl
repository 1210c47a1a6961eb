# Declarations that `runtime module check group` tries the module with.

resource "group" "plain" {
  name = "plain"
}

resource "group" "web" {
  name   = "web"
  gid    = 812
  system = true
}

resource "group" "operators" {
  name    = "operators"
  members = ["alice", "bob"]
}

resource "group" "empty" {
  name    = "empty"
  members = []
}

resource "group" "former" {
  name   = "former"
  ensure = "absent"
}
