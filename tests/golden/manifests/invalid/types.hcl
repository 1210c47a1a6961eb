variable "a" { type = strng }
variable "b" { type = "string" }
variable "c" { type = list }
variable "d" { type = set(string) }
variable "e" {
  type    = list(string)
  default = ["x", 1]
}
variable "f" {
  type    = object({ a = string, b = integer })
  default = { a = "x", b = 1.5 }
}
variable "g" {
  type    = object({ a = string })
  default = { a = "x", more = 1 }
}
