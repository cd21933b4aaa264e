"""Commands that train, estimate, infer and measure: each writes a record."""
