resource "file" "a" {
  part "" {
    inner {
      x = 1
    }
    meta {}
    value = 1 / 0
  }
  part "a" "b" {
    value = var.none
  }
}
