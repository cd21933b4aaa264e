"""Define the domains of the hyperparameters of `LdSM`."""

from typing import Literal, get_args

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

Optimizer = Literal["nag", "sgd"]
Ties = Literal["random", "first"]
InitialWeights = Literal["zero", "uniform"]
AverageOver = Literal["trees", "leaves"]
Shares = Literal["instances", "labels"]

DOMAINS = {
    **COMMON,
    "n_trees": whole(1, TREES),
    "unit_norm": Flag(),
    "arity": whole(2, 8),  # training evaluates about 2**arity sets of directions per instance
    "max_nodes": whole(1, MANY, none=True),
    "exceed": Flag(),
    "epochs": whole(1, PASSES),
    "learning_rate": POSITIVE,
    "lambda_1": EXCEPT_NONE,
    "lambda_2": NOT_NEGATIVE,
    "optimizer": OneOf(get_args(Optimizer)),
    "ties": OneOf(get_args(Ties)),
    "initial_weights": OneOf(get_args(InitialWeights)),
    "prune": Flag(),
    "shuffle": Flag(),
    "average": OneOf(get_args(AverageOver)),
    "shares": OneOf(get_args(Shares)),
    "beta": SHARE,
    "gamma": NOT_NEGATIVE,
}
