resource "file" "root" {
  path = "/srv/app"
}

resource "file" "conf" {
  path    = "${file.root.path}/conf"
  content = "root=${file.root.path}\n"
}

resource "file" "with.dots" {
  path = "${file.conf.path}.d"
}

resource "thing" "last" {
  paths = [file.conf.path, file["with.dots"].path]
  count_of = length([file.root.path])
  meta {
    require = [file.root, file["with.dots"]]
    before  = thing.after
    timeout = "90s"
    control {
      if     = file.root.path != ""
      unless = false
    }
  }
}

resource "thing" "after" {}
