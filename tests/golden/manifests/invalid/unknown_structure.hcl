manifst {
  name = "x"
}
name = "x"
locals = {}
variable "v" {
  type    = string
  defualt = "x"
}
manifest {
  serail = 1
  name {}
}
resource "file" "a" {
  contents {
    x = 1
  }
  control {
    if = true
  }
  mta {}
  meta {
    requires = [file.a]
    timout   = "1s"
    controls {}
    control {
      iff = true
    }
  }
}
locals {
  block {}
}
