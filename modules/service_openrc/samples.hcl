# Declarations that `runtime module check service_openrc` tries the provider with.

resource "service" "plain" {
  name    = "demo"
  ensure  = "running"
  enabled = true
}

resource "service" "early" {
  name    = "demo"
  enabled = true
  openrc {
    runlevel = "boot"
  }
}
