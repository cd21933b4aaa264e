"""The gate for hyperparameters: one table of their domains, which validation, documentation and tuning read.

At the ends of every interval nothing overflows and no loop is endless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any


@dataclass(frozen=True)
class Number:
    """An interval of numbers, ends included.

    Attributes
    ----------
    low, high : int or float
    whole : bool
        Whole numbers only.
    above : bool
        Without ``low`` itself.
    none : bool
        And None.
    """

    low: float
    high: float
    whole: bool = False
    above: bool = False
    none: bool = False

    def __contains__(self, value: object) -> bool:
        if value is None:
            return self.none
        if isinstance(value, bool) or not isinstance(value, Real) or (self.whole and not isinstance(value, Integral)):
            return False
        number: Any = value
        return bool(self.low <= number <= self.high and not (self.above and number == self.low))

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        low, high = (str(end) if self.whole else f"{end:g}" for end in (self.low, self.high))
        interval = f"above {low}, at most {high}" if self.above else f"from {low} to {high}"
        return f"{kind} {interval}{' or None' if self.none else ''}"


@dataclass(frozen=True)
class OneOf:
    """A choice of texts."""

    choices: tuple[str, ...]

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and value in self.choices

    def __str__(self) -> str:
        return f"one of {', '.join(map(repr, self.choices))}"


@dataclass(frozen=True)
class Flag:
    """A truth value."""

    def __contains__(self, value: object) -> bool:
        return type(value).__name__ in ("bool", "bool_")  # Python's and NumPy's, which is not imported here

    def __str__(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class Ascending:
    """A sequence of ascending numbers, each of a domain."""

    each: Number

    def __contains__(self, value: Any) -> bool:
        try:
            values = list(value)
        except TypeError:
            return False
        in_domain = len(values) > 0 and all(one in self.each for one in values)
        return in_domain and all(first < second for first, second in pairwise(values))

    def __str__(self) -> str:
        return f"ascending, {self.each}"


#: A set of values; ``str`` of it says which, to stand behind "expected".
Domain = Number | OneOf | Flag | Ascending


def whole(low: int, high: int, none: bool = False) -> Number:
    """Return the whole numbers from ``low`` to ``high``."""
    return Number(low, high, whole=True, none=none)


LARGE, MANY, PASSES = 1e9, 2**31 - 1, 1_000_000
POSITIVE, NOT_NEGATIVE, SHARE = Number(0, LARGE, above=True), Number(0, LARGE), Number(0, 1)
SOME = Number(0, 1, above=True, none=True)
EXPONENT = Number(0, 1e4)  # (1 + 1/4096)**1e4 is a number of SWNN's bounds
EXCEPT_NONE, POSITIVE_OR_NONE = Number(0, LARGE, none=True), Number(0, LARGE, above=True, none=True)
LOSS, POWER = OneOf(("logistic", "squared_hinge")), whole(1, 4)

LABELS_PER_INSTANCE = "labels-per-instance"  # in a search: the average of the training set

# Of several estimators.
COMMON: Mapping[str, Domain] = {
    "random_state": whole(-(2**63) + 1, 2**63 - 1),
    "n_jobs": whole(-100_000, 100_000, none=True),
}
FOREST: Mapping[str, Domain] = {"n_trees": whole(1, 100_000), "unit_norm": Flag()}
NODES: Mapping[str, Domain] = {
    "arity": whole(2, MANY),
    "max_leaf": whole(1, MANY),
    "loss": LOSS,
    "hinge_power": POWER,
    "C": POSITIVE,
    "tol": NOT_NEGATIVE,
    "epochs": whole(1, PASSES),
    "weight_cut": EXCEPT_NONE,
    "beam": whole(1, MANY, none=True),
    "unit_norm": Flag(),
}
LINEAR: Mapping[str, Domain] = {
    "C": POSITIVE_OR_NONE,
    "C_grid": Ascending(POSITIVE),
    "folds": whole(2, 10_000),
    "common": Flag(),
    "standardize": Flag(),
}

# By the name of the class; a class that derives from one of these has its domains.
DOMAINS: Mapping[str, Mapping[str, Domain]] = {
    "PLT": {
        **COMMON,
        **NODES,
        "tree": OneOf(("random", "huffman", "kmeans")),
        "solver": OneOf(("sgd", "adagrad", "batch")),
        "lam": EXCEPT_NONE,
        "gamma": POSITIVE,
        "eps": POSITIVE,
        "beam": whole(1, MANY),
        "search": OneOf(("certified", "beam", "exact")),
        "hash_bits": whole(1, 34, none=True),  # 2**34 weights are 64 GB
        "label_features": whole(1, MANY, none=True),
        "max_samples": SOME,
    },
    "Parabel": {**COMMON, **FOREST, **NODES, "C": POSITIVE_OR_NONE},
    "FastXML": {
        **COMMON,
        **FOREST,
        "max_leaf": whole(1, MANY),
        "labels_per_leaf": whole(1, MANY),
        "objective": OneOf(("ndcg", "dcg")),
        "propensity_weighted": Flag(),
        "propensity_a": Number(0, 100.0),
        "propensity_b": POSITIVE,
        "alpha": SHARE,
        "gamma": NOT_NEGATIVE,
    },
    "LdSM": {
        **COMMON,
        **FOREST,
        "arity": whole(2, 8),
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
    },
    "OPLT": {
        **COMMON,
        "unit_norm": Flag(),
        "policy": OneOf(("best_greedy", "random", "complete", "cpet", "one_vs_rest")),
        "alpha": SHARE,
        "balance": OneOf(("ratio", "printed")),
        "growth": OneOf(("paper", "program")),
        "arity": whole(2, MANY),
        "max_leaf": whole(2, MANY),
        "gamma": POSITIVE_OR_NONE,
        "eps": POSITIVE,
        "epochs": whole(1, PASSES),
        "warm_start": SOME,
    },
    "BinaryRelevance": {**COMMON, **LINEAR},
    "ProbabilisticClassifierChain": {
        **COMMON,
        **LINEAR,
        "n_samples": whole(1, PASSES),
        "order": OneOf(("given", "reversed")),
        "label_scale": POSITIVE,
    },
    "SparseWeightedNearestNeighbors": {
        "n_jobs": COMMON["n_jobs"],
        "S": whole(1, PASSES),
        "alpha": EXPONENT,
        "beta": Number(0, EXPONENT.high, none=True),
    },
    "OutOfFold": {**COMMON, "folds": LINEAR["folds"], "threshold": SHARE},
}


def domains_of(cls: type) -> Mapping[str, Domain]:
    """Return the domains of an estimator's hyperparameters by name; none for a class that the table does not know."""
    return next((DOMAINS[base.__name__] for base in cls.__mro__ if base.__name__ in DOMAINS), {})


def fault_of(cls: type, name: str, value: object) -> str | None:
    """Return the fault of a value, as a sentence that gives the expected values; None if there is none."""
    domain = domains_of(cls).get(name)
    if domain is None or value in domain:
        return None
    shown = list(value) if isinstance(value, tuple) else value
    return f"{cls.__name__}: {name}={shown!r}: expected {domain}"
