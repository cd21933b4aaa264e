"""Baselines as estimators, which suites name by their file; a module begins with the name of its program."""
