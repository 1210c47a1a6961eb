locals {
  a = 1e400
}
