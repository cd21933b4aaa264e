"""Define the domains of the hyperparameters of `Stacking`."""

from xmlc.kernels.domains import COMMON, MANY, Named, NumberRange, whole

MEMBERS = (("swnn", "swnn"), ("plt", "plt"))  # each pair names a default member of the ensemble and its estimator
OWN = {
    **COMMON,
    "n_held_out": whole(0, MANY),
    "n_candidates": whole(1, MANY),
    "propensity_exponent": NumberRange(0, 10),
}
DOMAINS = {**OWN, "estimators": Named(taken=(*OWN, "estimators"))}
