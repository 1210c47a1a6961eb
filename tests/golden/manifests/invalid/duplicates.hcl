manifest { name = "a" }
manifest { name = "b" }
variable "v" { default = 1 }
variable "v" { default = 2 }
locals { l = 1 }
locals { l = 2 }
resource "file" "a" {}
resource "file" "a" {}
resource "file" "b" {
  meta { timeout = "1s" }
  meta { timeout = "2s" }
}
resource "file" "c" {
  meta {
    control { if = true }
    control { if = true }
  }
}
