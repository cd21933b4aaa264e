"""Names of models in print: those of the suite hashing."""

MODELS = {f"plt-hashed-{bits}": f"PLT, hashed to 2^{bits}" for bits in (12, 15, 18, 21)}
