"""Define the domain (the set of allowed values) of each estimator's hyperparameters.

Validation, documentation, benchmark configurations and hyperparameter searches use these domains. Each module of this
package is named like its estimator in `xmlc.models.registry`. The modules import no estimator, so that a configuration
can be validated without importing estimators. Even with the values at the ends of an interval, no computation overflows
and every loop ends.
"""
