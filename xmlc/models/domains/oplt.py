"""Define the domains of the hyperparameters of `OPLT`."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from xmlc.core.errors import InvalidParameterError
from xmlc.kernels.domains import MANY, POSITIVE, POSITIVE_OR_NONE, SHARE, SOME, Flag, OneOf, whole
from xmlc.models.domains.plt import NODES, check_kmeans_shape

Policy = Literal["best_greedy", "random"]
Balance = Literal["ratio", "printed"]
Growth = Literal["paper", "program"]
DEFAULT_ARITY = 2
DEFAULT_MAX_LEAF = 100

DOMAINS = {
    **{name: NODES[name] for name in ("epochs", "weight_threshold", "unit_norm", "random_state", "n_jobs")},
    "arity": whole(2, MANY),
    "policy": OneOf(get_args(Policy)),
    "alpha": SHARE,
    "balance": OneOf(get_args(Balance)),
    "growth": OneOf(get_args(Growth)),
    "max_leaf": whole(2, MANY),
    "gamma": POSITIVE_OR_NONE,
    "eps": POSITIVE,
    "warm_start": SOME,
    "first_max_leaf": whole(2, MANY, none=True),
    "online": Flag(),
}


def check_together(given: Mapping[str, Any]) -> None:
    """Raise an error if hyperparameters of `OPLT` contradict one another. Missing ones have their defaults.

    Raises
    ------
    InvalidParameterError
    """
    arity = given.get("arity", DEFAULT_ARITY)
    max_leaf = given.get("max_leaf", DEFAULT_MAX_LEAF)
    warm_start = given.get("warm_start")
    first_max_leaf = given.get("first_max_leaf")
    threshold = given.get("weight_threshold")
    if arity > max_leaf:
        raise InvalidParameterError(f"found arity={arity}, max_leaf={max_leaf}, expected arity <= max_leaf")
    if given.get("growth") == "program" and warm_start is not None:
        raise InvalidParameterError(f"found warm_start={warm_start} with growth='program', expected warm_start=None")
    if first_max_leaf is not None and warm_start is None:
        found = f"first_max_leaf={first_max_leaf} with warm_start=None"
        raise InvalidParameterError(f"found {found}, expected first_max_leaf=None")
    if warm_start is not None:
        check_kmeans_shape(arity, max_leaf if first_max_leaf is None else first_max_leaf)
    if given.get("online") and threshold not in (None, "auto"):
        found = f"weight_threshold={threshold} with online=True"
        raise InvalidParameterError(f"found {found}, expected weight_threshold='auto' or None")
