"""Domains of `PLT`, and of all label trees."""

from typing import Literal, get_args

from xmlc.kernels.domains import (
    COMMON,
    EXCEPT_NONE,
    MANY,
    NOT_NEGATIVE,
    PASSES,
    POSITIVE,
    POSITIVE_OR_NONE,
    SOME,
    Flag,
    OneOf,
    whole,
)

Loss = Literal["logistic", "squared_hinge"]
Tree = Literal["random", "kmeans"]
Solver = Literal["sgd", "adagrad", "batch"]
Search = Literal["certified", "beam", "exact"]

NODES = {
    **COMMON,
    "arity": whole(2, MANY),
    "max_leaf": whole(1, MANY, none=True),
    "loss": OneOf(get_args(Loss)),
    "hinge_power": whole(1, 4),
    "C": POSITIVE_OR_NONE,
    "tol": NOT_NEGATIVE,
    "epochs": whole(1, PASSES),
    "weight_cut": EXCEPT_NONE,
    "beam": whole(1, MANY, none=True),
    "unit_norm": Flag(),
}
DOMAINS = {
    **NODES,
    "tree": OneOf(get_args(Tree)),
    "solver": OneOf(get_args(Solver)),
    "lam": EXCEPT_NONE,
    "gamma": POSITIVE,
    "eps": POSITIVE,
    "beam": whole(1, MANY),
    "search": OneOf(get_args(Search)),
    "hash_bits": whole(1, 34, none=True),  # 2**34 weights are 64 GB
    "label_features": whole(1, MANY, none=True),
    "max_samples": SOME,
}
