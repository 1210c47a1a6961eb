Hello %{ if true }
no end
