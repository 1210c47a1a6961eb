# A message of the day, its folder, a link to it, and a file that must not be there.

manifest {
  name = "motd"
}

variable "team" {
  type    = string
  default = "platform"
}

locals {
  contacts = ["ops@example.com", "oncall@example.com"]
}

resource "file" "folder" {
  path   = "/srv/motd"
  ensure = "directory"
  mode   = "0755"
}

resource "file" "message" {
  path    = "${file.folder.path}/message"
  mode    = "0644"
  content = <<-EOT
    Welcome. This node is kept by the ${var.team} team.
    %{ for contact in local.contacts ~}
    - ${contact}
    %{ endfor ~}
  EOT
}

resource "file" "banner" {
  path   = "${file.folder.path}/banner"
  source = "files/banner.txt"
  mode   = "u=rw,go=r"
}

resource "file" "link" {
  path   = "${file.folder.path}/current"
  ensure = "symlink"
  target = file.message.path
}

resource "file" "system" {
  path    = "${file.folder.path}/system"
  content = "${facts.os.id} on ${facts.architecture}\n"
}

resource "file" "old" {
  path   = "${file.folder.path}/message.old"
  ensure = "absent"

  meta {
    require = [file.message]
  }
}
