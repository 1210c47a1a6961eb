resource "thing" "a" {
  a = facts.hostnmae
  b = facts.os.name
  c = try(facts.os.name, "fine")
  d = facts.os.family + 1
}
