resource "file" "‮" {}
