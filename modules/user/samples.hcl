# Declarations that `runtime module check user` tries the module with.

resource "user" "plain" {
  name = "plain"
}

resource "user" "web" {
  name        = "web"
  uid         = 812
  system      = true
  group       = "web"
  groups      = ["ssl-cert", "adm"]
  membership  = "exact"
  comment     = "Web server"
  home        = "/srv/web"
  manage_home = true
  shell       = "/usr/sbin/nologin"
}

resource "user" "alice" {
  name          = "alice"
  gid           = 100
  groups        = ["wheel"]
  expires       = "2030-06-30"
  locked        = false
  password_hash = sensitive("$6$saltsalt$IFnjQHjNWjYTGLbkEPW0nyR9IGUKJqkn/wKzXYl1HNCkdkkh7WqJCuTVQ2P1gUPjn9Oe3ufSqSaNnKdvU.rGV.")
}

resource "user" "former" {
  name        = "former"
  ensure      = "absent"
  home        = "/home/former"
  manage_home = true
}
