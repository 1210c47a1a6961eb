Hello
  ${user} there
