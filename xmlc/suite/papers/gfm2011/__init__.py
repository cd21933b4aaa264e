"""Name the models of gfm2011, "An Exact Algorithm for F-Measure Maximization"."""

from xmlc.suite.results.titles import name_models

name_models({"pcc": "PCC", "br": "BR"})
