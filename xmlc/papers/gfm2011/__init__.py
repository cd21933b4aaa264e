"""gfm2011: An Exact Algorithm for F-Measure Maximization."""

from xmlc.numbers.titles import name_models

name_models({"pcc": "PCC", "br": "BR"})
