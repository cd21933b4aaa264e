"""Domains of `OPLT`."""

from xmlc.kernels.domains import (
    COMMON,
    EXCEPT_NONE,
    MANY,
    PASSES,
    POSITIVE,
    POSITIVE_OR_NONE,
    SHARE,
    SOME,
    Flag,
    OneOf,
    whole,
)

DOMAINS = {
    **COMMON,
    "unit_norm": Flag(),
    "policy": OneOf(("best_greedy", "random")),
    "alpha": SHARE,
    "balance": OneOf(("ratio", "printed")),
    "growth": OneOf(("paper", "program")),
    "arity": whole(2, MANY),
    "max_leaf": whole(2, MANY),
    "gamma": POSITIVE_OR_NONE,
    "eps": POSITIVE,
    "epochs": whole(1, PASSES),
    "warm_start": SOME,
    "weight_cut": EXCEPT_NONE,
    "online": Flag(),
}
