# Declarations that `runtime module check package` tries the module with.

resource "package" "present" {
  name = "nginx"
}

resource "package" "pinned" {
  name            = "libstdc++6"
  version         = "1:12.2.0-14+deb12u1"
  architecture    = "amd64"
  hold            = true
  allow_downgrade = true
}

resource "package" "latest" {
  name      = "ca-certificates"
  ensure    = "latest"
  when_held = "keep"
}

resource "package" "gone" {
  name   = "telnet"
  ensure = "absent"
}

resource "package" "purged" {
  name                = "exim4"
  ensure              = "purged"
  when_held           = "change"
  configuration_files = "replace"
}
