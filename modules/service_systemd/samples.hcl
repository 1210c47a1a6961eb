# Declarations that `runtime module check service_systemd` tries the provider with.

resource "service" "plain" {
  name    = "demo"
  ensure  = "running"
  enabled = true
}

resource "service" "timer" {
  name   = "demo.timer"
  masked = true
}
