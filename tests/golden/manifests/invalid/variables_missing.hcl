variable "needed" {
  type = string
}
variable "count" {
  type = integer
}
variable "token" {
  type      = list(string)
  sensitive = true
}
