"""oplt2021: Online Probabilistic Label Trees."""

from xmlc.papers.oplt2021.titles import MODELS
from xmlc.tables.titles import name_models

name_models(MODELS)
