output "o" {
  value = 1
}
variable "v" {
  default = 1
  validation {
    condition = true
  }
}
resource "file" "b" {}
