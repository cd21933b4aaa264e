"""hashing: what collisions of hashed weights cost (plt2016, Section 6); no paper's own tables."""

from xmlc.papers.hashing.titles import MODELS
from xmlc.tables.titles import name_models

name_models(MODELS)
