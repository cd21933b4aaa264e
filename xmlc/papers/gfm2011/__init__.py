"""gfm2011: An Exact Algorithm for F-Measure Maximization."""

from xmlc.papers.gfm2011.titles import MODELS
from xmlc.tables.titles import name_models

name_models(MODELS)
