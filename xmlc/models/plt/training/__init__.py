"""How a PLT learns: which instances reach which node, and the solvers that fit siblings to them."""
