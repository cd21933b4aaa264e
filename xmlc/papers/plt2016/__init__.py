"""plt2016: Extreme F-measure Maximization using Sparse Probability Estimates."""

from xmlc.papers.plt2016.titles import MODELS
from xmlc.tables.titles import name_models

name_models(MODELS)
