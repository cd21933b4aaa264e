"""Define the domains of each estimator's hyperparameters for validation, documentation, suites and searches.

Files have the estimators' names in `xmlc.models.registry`. They import no estimator, so that a suite is checked without
one. The ends of every interval are safe: nothing overflows, and every loop ends.
"""
