"""defaults: what estimators reach on datasets that nobody tuned; no paper's own tables."""

from xmlc.papers.defaults.titles import MODELS
from xmlc.tables.titles import name_models

name_models(MODELS)
