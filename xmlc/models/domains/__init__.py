"""The domains of each estimator's hyperparameters, which validation, documentation, suites and searches read.

Files have the names of `xmlc.models.registry` and import no estimator, so that a suite is checked without one. At the
ends of every interval nothing overflows and no loop is endless.
"""
