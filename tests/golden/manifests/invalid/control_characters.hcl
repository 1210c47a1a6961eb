locals {
  a = "[31m${b‮x}"
}
