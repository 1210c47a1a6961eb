# Declarations that `runtime module check file` tries the module with.

resource "file" "empty" {
  path = "/srv/empty"
}

resource "file" "text" {
  path    = "/etc/motd"
  content = "Welcome\n"
  owner   = "root"
  group   = 0
  mode    = "u=rw,go=r"
}

resource "file" "checked" {
  path     = "/etc/sudoers.d/web"
  content  = "web ALL=(ALL) NOPASSWD: /usr/sbin/nginx -s reload\n"
  mode     = "0440"
  validate = ["/usr/sbin/visudo", "-cf", "{}"]
}

resource "file" "copy" {
  path   = "/etc/banner"
  source = "files/banner.txt"
  owner  = "1000"
  mode   = "644"
  force  = true
}

resource "file" "fetched" {
  path     = "/srv/tool"
  source   = "https://example.com/tool"
  checksum = "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
}

resource "file" "directory" {
  path   = "/srv/site"
  ensure = "directory"
  mode   = "0755"
}

resource "file" "link" {
  path   = "/srv/current"
  ensure = "symlink"
  target = "releases/42"
  group  = "web"
}

resource "file" "leftover" {
  path   = "/etc/motd.dpkg-old"
  ensure = "absent"
}
