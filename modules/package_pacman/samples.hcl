# Declarations that `runtime module check package_pacman` tries the provider with.

resource "package" "plain" {
  name = "demo"
}

resource "package" "latest" {
  name   = "demo"
  ensure = "latest"
  pacman {
    index_max_age = 86400
  }
}

resource "package" "from_a_file" {
  name    = "tool"
  version = "1.0-1"
  pacman {
    source   = "https://example.com/tool"
    checksum = "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
  }
}
