"""Define the domains of the hyperparameters of `OPLT`."""

from typing import Literal, get_args

from xmlc.kernels.domains import EXCEPT_NONE, MANY, POSITIVE, POSITIVE_OR_NONE, SHARE, SOME, Flag, OneOf, whole
from xmlc.models.domains.plt import NODES

Policy = Literal["best_greedy", "random"]
Balance = Literal["ratio", "printed"]
Growth = Literal["paper", "program"]

DOMAINS = {
    **{name: NODES[name] for name in ("epochs", "unit_norm", "random_state", "n_jobs")},
    "arity": whole(2, MANY),
    "weight_threshold": EXCEPT_NONE,
    "policy": OneOf(get_args(Policy)),
    "alpha": SHARE,
    "balance": OneOf(get_args(Balance)),
    "growth": OneOf(get_args(Growth)),
    "max_leaf": whole(2, MANY),
    "gamma": POSITIVE_OR_NONE,
    "eps": POSITIVE,
    "warm_start": SOME,
    "online": Flag(),
}
