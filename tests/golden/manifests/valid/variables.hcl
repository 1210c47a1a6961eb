variable "name" {
  type        = string
  description = "Who is greeted."
}

variable "port" {
  type    = integer
  default = 80
}

variable "site" {
  type = object({
    host  = string
    paths = map(list(string))
  })
}

variable "maybe" {
  type    = string
  default = null
}

variable "token" {
  type      = string
  sensitive = true
}

variable "anything" {}

locals {
  greeting = "Hello, ${var.name}"
  longer   = "${local.greeting}!"
  parts = {
    token = var.token
    port  = var.port
  }
}

resource "thing" "variables" {
  greeting   = local.longer
  port       = var.port
  first_path = var.site.paths["static"][0]
  maybe      = var.maybe == null ? "nothing" : "something"
  token      = var.token
  in_text    = "token: ${var.token}"
  part       = local.parts.port
  whole      = local.parts
  hidden     = sensitive("x")
  shown      = nonsensitive(upper(var.token))
  anything   = var.anything
}
