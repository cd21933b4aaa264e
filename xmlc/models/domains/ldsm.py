"""Domains of `LdSM`."""

from xmlc.kernels.domains import (
    COMMON,
    EXCEPT_NONE,
    MANY,
    NOT_NEGATIVE,
    PASSES,
    POSITIVE,
    SHARE,
    TREES,
    Flag,
    OneOf,
    whole,
)

DOMAINS = {
    **COMMON,
    "n_trees": whole(1, TREES),
    "unit_norm": Flag(),
    "arity": whole(2, 8),  # whose directions make 2**8 sets at each instance
    "max_nodes": whole(1, MANY, none=True),
    "exceed": Flag(),
    "epochs": whole(1, PASSES),
    "learning_rate": POSITIVE,
    "lambda_1": EXCEPT_NONE,
    "lambda_2": NOT_NEGATIVE,
    "optimizer": OneOf(("nag", "sgd")),
    "ties": OneOf(("random", "first")),
    "initial_weights": OneOf(("zero", "uniform")),
    "prune": Flag(),
    "shuffle": Flag(),
    "average": OneOf(("trees", "leaves")),
    "shares": OneOf(("instances", "labels")),
    "beta": SHARE,
    "gamma": NOT_NEGATIVE,
}
