"""Define the domains of the hyperparameters of `FastXML`."""

from typing import Literal, get_args

from xmlc.kernels.domains import COMMON, MANY, NOT_NEGATIVE, POSITIVE, SHARE, TREES, Flag, NumberRange, OneOf, whole

Objective = Literal["ndcg", "dcg"]

DOMAINS = {
    **COMMON,
    "n_trees": whole(1, TREES),
    "unit_norm": Flag(),
    "max_leaf": whole(1, MANY),
    "labels_per_leaf": whole(1, MANY),
    "objective": OneOf(get_args(Objective)),
    "propensity_weighted": Flag(),
    "propensity_a": NumberRange(0, 100.0),
    "propensity_b": POSITIVE,
    "alpha": SHARE,
    "gamma": NOT_NEGATIVE,
}
