"""swnn2018: Revisiting the Vector Space Model, the Sparse Weighted Nearest-Neighbor Method."""

from xmlc.papers.swnn2018.titles import MODELS
from xmlc.tables.titles import name_models

name_models(MODELS)
