"""Define the domains of each estimator's hyperparameters for validation, documentation, suites and searches.

Each module has the name of its estimator in `xmlc.models.registry`. The modules import no estimator, so that a suite
can be checked without imports of estimators. The ends of every interval are safe: no computation overflows, and every
loop ends.
"""
