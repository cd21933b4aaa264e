"""Baseline programs as estimators, to which suites refer by the paths of their files."""
