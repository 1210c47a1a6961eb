# Without a target, everything that reads facts waits for the node; the rest of it is put in.
variable "domain" {
  type    = string
  default = "example.org"
}

locals {
  fqdn    = "${facts.hostname}.${var.domain}"
  debian  = facts.os.family == "debian"
  greeted = { debian = "apt", redhat = "dnf" }
}

resource "file" "motd" {
  path    = "/etc/motd"
  content = "Welcome to ${local.fqdn}, ${upper("known")}\n"
}

resource "thing" "deferred" {
  choice    = local.debian ? "${var.domain}/deb" : 1 / 0
  constant  = true ? "known" : facts.x
  logic     = local.debian && var.domain == "example.org"
  settled   = false && facts.x
  lookup    = lookup(local.greeted, facts.os.family, "none")
  member    = { known = 1, unknown = facts.x }.known
  list      = [1, facts.x]
  index     = [1, 2][facts.n]
  loop      = [for mount in facts.mounts : "${var.domain}:${mount.path}" if mount.size > 10 * 10]
  group     = { for key, value in facts.map : key => [for x in value : "${key}${x}"]... }
  in_known  = [for x in ["a", "b"] : "${x}${facts.x}"]
  filtered  = [for x in ["a", "b"] : x if x == facts.x]
  splat     = facts.mounts[*].path
  tried     = try(facts.cloud.region, "none")
  possible  = can(facts.cloud.region)
  expanded  = max(facts.numbers...)
  text      = "%{ for m in facts.mounts }${m.path} %{ endfor }%{ if local.debian }deb%{ endif }"
  negated   = [!local.debian, -facts.n]
  from_file = file.motd.content
  sensitive = sensitive(facts.x)
  file_text = "${facts.x}: ${file("files/motd.txt")}"
  rendered  = templatefile("files/motd.tpl", { host = facts.hostname, users = ["ann", "bob"], loud = true })
  meta {
    control {
      if = local.debian
    }
  }
}
