"""Name the models of swnn2018, "Revisiting the Vector Space Model, the Sparse Weighted Nearest-Neighbor Method"."""

from xmlc.suite.results.titles import name_models

# The package of ldsm2020 also names the models that swnn2018 only quotes.
name_models({"swnn": "SWNN", "swnn-searched": "SWNN", "swnn-75": "SWNN, S 75"})
