# A shop on one node: web server, database, cache, the application and its backups. Forty resources, so that there is something to draw:
#
#   runtime compile site.hcl -o shop.wasm.tar && runtime graph shop.wasm.tar --format svg > shop.svg

manifest {
  name = "shop"
}

variable "domain" {
  type    = string
  default = "shop.example.org"
}

# Programs.

resource "package" "nginx" { name = "nginx" }

resource "package" "postgresql" { name = "postgresql" }

resource "package" "redis" { name = "redis-server" }

resource "package" "logrotate" { name = "logrotate" }

# Who it runs as, and who releases it.

resource "group" "shop" {
  name   = "shop"
  system = true
}

resource "group" "deploy" { name = "deploy" }

resource "user" "shop" {
  name   = "shop"
  group  = group.shop.name
  home   = "/srv/shop"
  shell  = "/usr/sbin/nologin"
  system = true
}

resource "user" "deploy" {
  name   = "deploy"
  group  = group.deploy.name
  groups = [group.shop.name]
  shell  = "/bin/bash"
}

resource "file" "sudoers" {
  path    = "/etc/sudoers.d/deploy"
  content = "${user.deploy.name} ALL=(root) NOPASSWD: /usr/bin/systemctl restart shop\n"
  mode    = "0440"
}

# The application.

resource "file" "home" {
  path   = "/srv/shop"
  ensure = "directory"
  owner  = user.shop.name
  group  = group.shop.name
  mode   = "0755"
}

resource "file" "releases" {
  path   = "${file.home.path}/releases"
  ensure = "directory"
  owner  = user.deploy.name
  mode   = "0755"
}

resource "file" "shared" {
  path   = "${file.home.path}/shared"
  ensure = "directory"
  mode   = "0755"
}

resource "file" "uploads" {
  path   = "/srv/shop/shared/uploads"
  ensure = "directory"
  owner  = user.shop.name
  mode   = "0750"
}

resource "file" "robots" {
  path    = "/srv/shop/shared/robots.txt"
  content = "User-agent: *\nDisallow: /cart\n"
}

resource "file" "current" {
  path   = "/srv/shop/current"
  ensure = "symlink"
  target = "${file.releases.path}/1"
}

resource "file" "logs" {
  path   = "/var/log/shop"
  ensure = "directory"
  owner  = user.shop.name
  mode   = "0750"
}

resource "file" "log_rotation" {
  path    = "/etc/logrotate.d/shop"
  content = "${file.logs.path}/*.log {\n  weekly\n  rotate 8\n  compress\n}\n"
  meta { require = [package.logrotate] }
}

resource "file" "settings" {
  path   = "/etc/shop"
  ensure = "directory"
  mode   = "0755"
}

resource "file" "config" {
  path    = "${file.settings.path}/shop.conf"
  content = "domain = ${var.domain}\n"
}

resource "file" "database_config" {
  path    = "${file.settings.path}/database.conf"
  content = "socket = /run/postgresql\ndatabase = shop\n"
  group   = group.shop.name
  mode    = "0640"
}

resource "file" "cache_config" {
  path    = "${file.settings.path}/cache.conf"
  content = "socket = /run/redis/redis.sock\n"
}

resource "file" "unit" {
  path    = "/etc/systemd/system/shop.service"
  content = "[Service]\nUser=${user.shop.name}\nExecStart=${file.current.path}/bin/shop\n"
}

resource "exec" "restart_shop" {
  command      = ["/usr/bin/systemctl", "restart", "shop"]
  refresh_only = true
  meta {
    subscribe = [file.config, file.database_config, file.cache_config, file.unit]
    require   = [exec.migrate, exec.restart_redis]
  }
}

resource "exec" "warm_up" {
  command      = ["/usr/bin/curl", "--silent", "--output", "/dev/null", "https://${var.domain}/"]
  refresh_only = true
  meta { subscribe = [exec.restart_shop, exec.reload_nginx] }
}

# The web server.

resource "file" "site" {
  path    = "/etc/nginx/sites-available/shop"
  content = "server {\n  server_name ${var.domain};\n  root ${file.current.path}/public;\n}\n"
  meta { require = [package.nginx] }
}

resource "file" "site_enabled" {
  path   = "/etc/nginx/sites-enabled/shop"
  ensure = "symlink"
  target = file.site.path
}

resource "file" "default_site" {
  path   = "/etc/nginx/sites-enabled/default"
  ensure = "absent"
  meta { require = [package.nginx] }
}

resource "file" "gzip" {
  path    = "/etc/nginx/conf.d/gzip.conf"
  content = "gzip on;\n"
  meta { require = [package.nginx] }
}

resource "exec" "reload_nginx" {
  command      = ["/usr/bin/systemctl", "reload", "nginx"]
  refresh_only = true
  meta { subscribe = [file.site, file.site_enabled, file.default_site, file.gzip] }
}

# The database.

resource "file" "postgresql_config" {
  path    = "/etc/postgresql/common.d/shop.conf"
  content = "shared_buffers = 512MB\n"
  meta {
    require = [package.postgresql]
    notify  = [exec.reload_postgresql]
  }
}

resource "exec" "reload_postgresql" {
  command      = ["/usr/bin/systemctl", "reload", "postgresql"]
  refresh_only = true
}

resource "exec" "database_role" {
  command = ["/usr/bin/createuser", "shop"]
  user    = "postgres"
  unless  = ["/usr/bin/psql", "--dbname", "user=shop dbname=postgres", "--command", "select 1"]
  meta { require = [package.postgresql] }
}

resource "exec" "database" {
  command = ["/usr/bin/createdb", "--owner", "shop", "shop"]
  user    = "postgres"
  unless  = ["/usr/bin/psql", "--dbname", "shop", "--command", "select 1"]
  meta { require = [exec.database_role, exec.reload_postgresql] }
}

resource "exec" "migrate" {
  command = ["/srv/shop/current/bin/migrate"]
  user    = user.shop.name
  unless  = ["/srv/shop/current/bin/migrate", "--check"]
  meta { require = [exec.database, file.database_config, file.current] }
}

# The cache.

resource "file" "redis_config" {
  path    = "/etc/redis/redis.conf.d/shop.conf"
  content = "maxmemory 256mb\n"
  meta {
    require = [package.redis]
    notify  = [exec.restart_redis]
  }
}

resource "exec" "restart_redis" {
  command      = ["/usr/bin/systemctl", "restart", "redis-server"]
  refresh_only = true
}

# Backups.

resource "file" "backups" {
  path   = "/var/backups/shop"
  ensure = "directory"
  mode   = "0700"
}

resource "file" "backup_script" {
  path    = "/usr/local/bin/shop-backup"
  content = "#!/bin/sh\nexec pg_dump --file ${file.backups.path}/shop.sql shop\n"
  mode    = "0755"
  meta { require = [package.postgresql] }
}

resource "file" "backup_schedule" {
  path    = "/etc/cron.d/shop-backup"
  content = "30 3 * * * root ${file.backup_script.path}\n"
}

resource "file" "motd" {
  path    = "/etc/motd"
  content = "This node runs ${var.domain}.\n"
}
