"""Define the domains of `Stacking`."""

from xmlc.kernels.domains import COMMON, MANY, Named, NumberRange, whole

MEMBERS = (("swnn", "swnn"), ("plt", "plt"))  # the default: names of members, and names of their estimators
OWN = {
    **COMMON,
    "n_held_out": whole(0, MANY),
    "n_candidates": whole(1, MANY),
    "propensity_exponent": NumberRange(0, 10),
}
DOMAINS = {**OWN, "estimators": Named(taken=(*OWN, "estimators"))}
