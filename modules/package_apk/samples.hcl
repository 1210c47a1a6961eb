# Declarations that `runtime module check package_apk` tries the provider with.

resource "package" "plain" {
  name = "demo"
}

resource "package" "latest" {
  name   = "demo"
  ensure = "latest"
  apk {
    index_max_age = 86400
  }
}
