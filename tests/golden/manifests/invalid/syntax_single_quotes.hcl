resource "file" "a" {
  path = '/x'
}
