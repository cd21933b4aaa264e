"""How a PLT predicts: descents through the label tree, for one instance or for many at once."""
