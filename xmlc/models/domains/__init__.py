"""Define the domain (the set of allowed values) of each estimator's hyperparameters.

Validation, documentation, benchmark configurations and hyperparameter searches use these domains. Each module of this
package is named like its estimator in `xmlc.models.registry`. The modules import no estimator, so that a configuration
can be validated without importing estimators. The ends of every interval are safe values, with which no computation
overflows and every loop ends.
"""
