manifest {
  name     = "has space"
  serial   = -1
  audience = "web"
}
