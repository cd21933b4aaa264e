"""hashing: what collisions of hashed weights cost (plt2016, Section 6); no paper's own tables."""
