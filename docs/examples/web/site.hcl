# A small web server, whole: its package, its user, its pages, its unit and configuration, and the service.

manifest {
  name = "web"
}

variable "port" {
  type    = number
  default = 8080
}

resource "package" "web" {
  name = "mini-httpd"
}

resource "group" "web" {
  name   = "web"
  system = true
}

resource "user" "web" {
  name   = "web"
  group  = "web"
  system = true
  shell  = "/usr/sbin/nologin"
}

resource "file" "pages" {
  path   = "/srv/web"
  ensure = "directory"
  mode   = "0755"
}

resource "file" "page" {
  path    = "${file.pages.path}/index.html"
  content = "it works\n"
  mode    = "0644"
}

# The service goes after this file by itself, and systemd reads it first. `notify` restarts the service when it changes.
resource "file" "unit" {
  path    = "/etc/systemd/system/web.service"
  mode    = "0644"
  content = <<-UNIT
    [Service]
    User=${user.web.name}
    ExecStart=/usr/sbin/mini_httpd -D -C ${file.conf.path}
    [Install]
    WantedBy=multi-user.target
  UNIT
  meta {
    notify = [service.web]
  }
}

resource "file" "conf" {
  path    = "/etc/web.conf"
  mode    = "0644"
  content = <<-CONF
    host=127.0.0.1
    port=${var.port}
    dir=${file.pages.path}
  CONF
}

resource "service" "web" {
  name    = "web"
  ensure  = "running"
  enabled = true
  meta {
    require   = [package.web, user.web, file.page]
    subscribe = [file.conf]
  }
}
