# Declarations that `runtime module check exec` tries the module with.

resource "exec" "build" {
  command = ["/usr/bin/make", "-C", "/srv/site", "all"]
  creates = "/srv/site/index.html"
}

resource "exec" "initialise" {
  command     = ["/usr/bin/initdb", "--pwfile=-"]
  unless      = ["/usr/bin/test", "-e", "/var/lib/db/PG_VERSION"]
  stdin       = "a password"
  user        = "postgres"
  environment = { PGDATA = "/var/lib/db", LANG = "C.UTF-8" }
  directory   = "/var/lib/db"
  umask       = "077"
  sensitive   = true
}

resource "exec" "pipe" {
  shell       = "date | tee /srv/last-run"
  always      = true
  show_output = "always"
}

resource "exec" "wait" {
  command   = ["/usr/bin/test", "-S", "/srv/socket"]
  only_if   = ["/usr/bin/test", "-d", "/srv"]
  returns   = [0, 3]
  tries     = 10
  try_sleep = 1
  timeout   = 5
  user      = 1000
  group     = "users"
}

resource "exec" "reload" {
  command      = ["/usr/sbin/nginx", "-s", "reload"]
  refresh_only = true
  show_output  = "never"
}
