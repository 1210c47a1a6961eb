output "o" {
  value = 1
}
variable "v" {
  default = 1
  validation {
    condition = true
  }
}
resource "file" "a" {
  meta {
    notify    = [file.b]
    subscribe = [file.b]
    provider  = "posix"
  }
}
resource "file" "b" {}
