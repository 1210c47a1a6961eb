resource "file" "a" {
  meta {
    require = ["file.b", file.b.path, file.none, file.a, file.b, file.b]
    before  = 3
    timeout = "soon"
    control {}
  }
}
resource "file" "b" {
  meta { timeout = "0s" }
}
resource "file" "c" {
  meta { timeout = 30 }
}
resource "file" "d" {
  meta { timeout = "25h" }
}
