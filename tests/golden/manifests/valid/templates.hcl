variable "names" {
  type    = list(string)
  default = ["ann", "bob"]
}

variable "verbose" {
  type    = bool
  default = true
}

resource "thing" "templates" {
  joined    = "n=${1 + 1} b=${true} s=${"in ${"ner"}"}"
  unchanged = "${[1, 2]}"
  plain     = <<EOT
as it is
    indented ${length(var.names)}
EOT
  indented = <<-EOT
    first
      second ${"x"}

    $${not} %%{this} ${"that"}
    last
  EOT
  unindented_line = <<-EOT
      a ${1}
    b
  EOT
  directives = <<-EOT
    %{ for index, name in var.names ~}
    ${index}: ${upper(name)}%{ if name == "bob" } (you)%{ endif }
    %{ endfor ~}
    %{ if var.verbose }loud%{ else }quiet%{ endif }
    end
  EOT
  strip_left  = "a   ${~ "b"} c"
  strip_right = "a ${"b" ~}   c"
  strip_both  = "a ${~ "b" ~} c"
  quoted_for  = "%{ for name in var.names }<${name}>%{ endfor }"
  empty       = ""
}
