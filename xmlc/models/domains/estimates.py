"""Domains of `Estimates`, whose hyperparameters are paths."""

DOMAINS = {"validation": None, "test": None}
