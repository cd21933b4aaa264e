"""ldsm2020: LdSM, Logarithm-depth Streaming Multi-label Decision Trees."""

from xmlc.papers.ldsm2020.titles import MODELS
from xmlc.tables.titles import name_models

name_models(MODELS)
