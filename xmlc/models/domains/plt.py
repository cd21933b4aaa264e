"""Define the domains of the hyperparameters of `PLT`. The domains of `Parabel` and `OPLT` are based on this module."""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from xmlc.core.errors import InvalidParameterError
from xmlc.kernels.domains import (
    COMMON,
    EXCEPT_NONE,
    LARGE,
    MANY,
    NOT_NEGATIVE,
    PASSES,
    POSITIVE,
    POSITIVE_OR_NONE,
    SOME,
    Flag,
    NumberRange,
    OneOf,
    whole,
)

Loss = Literal["logistic", "squared_hinge"]
Tree = Literal["random", "kmeans"]
SolverName = Literal["sgd", "adagrad", "batch"]
SearchMethod = Literal["certified", "beam", "exact"]
Auto = Literal["auto"]
DEFAULT_TREE: Tree = "kmeans"
DEFAULT_SOLVER: SolverName = "sgd"

# USUAL_ARITY maps a number of labels to the default arity of k-means trees with at most this number of labels. With
# more than 3,270,000 labels, the default arity is 128 (docs/models.md). Among the arities 16, 32, 64 and 128, the
# default arity gives the tree the fewest levels. If several arities give equally few levels, the default is the
# smallest of these arities. In a tree with one more level, the lowest inner nodes would have only a few labels (see
# `largest_leaf`).
USUAL_ARITY = {6_400: 16, 18_000: 32, 51_000: 64, 144_000: 128, 578_000: 32, 3_270_000: 64}
SMALL_ARITY = 16
LARGEST_OF_SGD = 18_000  # with more than 18,000 labels, an arity above 16 makes SGD three times as slow for little gain

NODES = {
    **COMMON,
    "arity": whole(2, MANY, none=True),
    "max_leaf": whole(1, MANY, none=True),
    "loss": OneOf(get_args(Loss)),
    "hinge_power": whole(1, 4),
    "C": POSITIVE_OR_NONE,
    "tol": NOT_NEGATIVE,
    "epochs": whole(1, PASSES),
    "weight_threshold": NumberRange(0, LARGE, none=True, text="auto"),
    "beam": whole(1, MANY, none=True),
    "unit_norm": Flag(),
}
DOMAINS = {
    **NODES,
    "tree": OneOf(get_args(Tree)),
    "solver": OneOf(get_args(SolverName)),
    "lam": EXCEPT_NONE,
    "gamma": POSITIVE,
    "eps": POSITIVE,
    "beam": whole(1, MANY),
    "search": OneOf(get_args(SearchMethod)),
    "hash_bits": whole(1, 34, none=True),  # a table of 2**34 weights takes 64 GB
    "label_features": whole(1, MANY, none=True),
    "max_samples": SOME,
}


def usual_arity(tree: object, solver: object, n_labels: float) -> int:
    """Return the default arity of a tree for ``n_labels`` labels."""
    if tree == "random" or (solver != "batch" and n_labels > LARGEST_OF_SGD):
        return SMALL_ARITY
    return next((arity for most, arity in USUAL_ARITY.items() if n_labels <= most), 128)


def check_together(given: Mapping[str, Any]) -> None:
    """Raise an error if hyperparameters of `PLT` contradict one another. Missing ones have their defaults.

    Raises
    ------
    InvalidParameterError
    """
    if given.get("tree", DEFAULT_TREE) == "kmeans":
        check_kmeans_shape(given.get("arity") or SMALL_ARITY, given.get("max_leaf"))
    hash_bits = given.get("hash_bits")
    solver = given.get("solver", DEFAULT_SOLVER)
    threshold = given.get("weight_threshold")
    if hash_bits is not None and solver != "sgd":
        raise InvalidParameterError(f"found hash_bits={hash_bits} with solver={solver!r}, expected solver='sgd'")
    if hash_bits is not None and threshold not in (None, "auto"):
        found = f"weight_threshold={threshold} with hash_bits={hash_bits}"
        raise InvalidParameterError(f"found {found}, expected weight_threshold='auto' or None")


def check_kmeans_shape(arity: int, max_leaf: int | None) -> None:
    """Raise an InvalidParameterError if a k-means tree cannot have this ``arity`` and ``max_leaf``."""
    if arity < 2 or int(arity) & (int(arity) - 1):
        expected = "expected a power of two for a k-means tree (2, 4, 8, 16, ...)"
        raise InvalidParameterError(f"found arity={arity}, {expected}. Use tree='random' for another arity")
    if max_leaf is not None and max_leaf < 1:
        raise InvalidParameterError(f"found max_leaf={max_leaf}, expected at least 1")
