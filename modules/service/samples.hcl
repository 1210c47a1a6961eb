# Declarations that `runtime module check service` tries the module with.

resource "service" "running" {
  name    = "nginx"
  ensure  = "running"
  enabled = true
}

resource "service" "stopped" {
  name    = "apache2.service"
  state   = "stopped"
  enabled = false
  masked  = true
}

resource "service" "timer" {
  name          = "certbot.timer"
  ensure        = "running"
  masked        = false
  on_refresh    = "reload_or_restart"
  daemon_reload = false
}

resource "service" "at_boot" {
  name    = "getty@tty2"
  enabled = true
}
