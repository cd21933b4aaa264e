"""Domains of `OPLT`."""

from xmlc.kernels.domains import MANY, POSITIVE, POSITIVE_OR_NONE, SHARE, SOME, Flag, OneOf, whole
from xmlc.models.domains.plt import NODES

DOMAINS = {
    **{name: NODES[name] for name in ("arity", "epochs", "weight_cut", "unit_norm", "random_state", "n_jobs")},
    "policy": OneOf(("best_greedy", "random")),
    "alpha": SHARE,
    "balance": OneOf(("ratio", "printed")),
    "growth": OneOf(("paper", "program")),
    "max_leaf": whole(2, MANY),
    "gamma": POSITIVE_OR_NONE,
    "eps": POSITIVE,
    "warm_start": SOME,
    "online": Flag(),
}
