"""hashing: costs of collisions of hashed weights (plt2016, Section 6); no paper's own tables."""

from xmlc.papers.tables.titles import name_models

name_models({f"plt-hashed-{bits}": f"PLT, hashed to 2^{bits}" for bits in (12, 15, 18, 21)})
