"""Define the domains of the hyperparameters of `Stacking`, and its members."""

import math
from typing import Any

from xmlc.kernels.domains import COMMON, MANY, Named, NumberRange, whole

# Each pair names a member of the ensemble and its estimator.
MEMBERS = (("swnn", "swnn"), ("plt", "plt"))
FEW_LABELS = 256
ONE_VS_REST = {"tree": "random", "arity": FEW_LABELS, "solver": "batch"}  # a tree of depth 1
MEMBERS_FOR_FEW_LABELS = (
    ("swnn", "swnn"),
    ("logistic", {"plt": {**ONE_VS_REST, "loss": "logistic"}}),
    ("hinge", {"plt": {**ONE_VS_REST, "loss": "squared_hinge"}}),
)
OWN = {
    **COMMON,
    "n_held_out": whole(0, MANY),
    "n_candidates": whole(1, MANY),
    "propensity_exponent": NumberRange(0, 10),
}
DOMAINS = {**OWN, "estimators": Named(taken=(*OWN, "estimators"), none=True)}
HELD_OUT = 2000  # by default
MOST_PARTS = 5
# With 16 texts, the mean of the members' scores ranks better than the regression, and with 60 texts it ranks worse.
FEWEST_INSTANCES = 30


def n_held_out_parts(n: float, n_held_out: float) -> int:
    """Return in how many parts of at most a fifth of n instances ``n_held_out`` instances are held out.

    The result is at most 5, and 0 for fewer than `FEWEST_INSTANCES` instances.
    """
    if n < FEWEST_INSTANCES:
        return 0
    return min(MOST_PARTS, math.ceil(n_held_out / (n // MOST_PARTS)))


def default_members(n_labels: float) -> tuple[tuple[str, Any], ...]:
    """Return the members of a `Stacking` with ``estimators=None`` that is trained on data with ``n_labels`` labels."""
    return MEMBERS_FOR_FEW_LABELS if n_labels <= FEW_LABELS else MEMBERS
