resource "thing" "files" {
  content  = file("files/motd.txt")
  rendered = templatefile("files/motd.tpl", { host = "h1", users = [], loud = false })
  there    = fileexists("files/motd.txt")
  missing  = fileexists("files/none.txt")
  folder   = fileexists("files")
  marked   = templatefile("files/value.tpl", { value = sensitive("x") })
}
