"""The suite scale: what each step costs on large synthetic sets, and how costs grow."""

from xmlc.papers.scale.titles import MODELS
from xmlc.tables.titles import name_models

name_models(MODELS)
