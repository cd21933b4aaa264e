"""What a trained model of each estimator amounts to: its bytes, what training holds beside it, processor seconds.

Constants are bytes and seconds of one unit of work. They were fitted to some datasets and hold on others;
docs/resources.md says which, and how well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from xmlc.estimator import Hyperparameters
from xmlc.planning.forest_seconds import fastxml_seconds, ldsm_seconds
from xmlc.planning.forests import fastxml_bytes, ldsm_bytes
from xmlc.planning.label_trees import Blocks, TreeCosts, clustered_blocks, complete_blocks, tree_costs
from xmlc.planning.shape import Shape

# The defaults of estimators that costs depend on; a test compares them with the estimators' own.
DEFAULTS: dict[str, Hyperparameters] = {
    "plt": {"arity": 16, "tree": "kmeans", "max_leaf": 100, "solver": "sgd", "epochs": 30, "weight_cut": None,
            "hash_bits": None, "max_samples": None, "search": "certified", "beam": 10},
    "parabel": {"n_trees": 3, "arity": 2, "max_leaf": 100, "epochs": 20, "weight_cut": 0.1, "beam": 10},
    "fastxml": {"n_trees": 50, "max_leaf": 10, "labels_per_leaf": 100, "alpha": 1.0},
    "ldsm": {"n_trees": 10, "arity": 2, "max_nodes": 1000, "epochs": 5, "optimizer": "nag", "prune": True, "beta": 1.0},
    "oplt": {"arity": 2, "max_leaf": 100, "epochs": 1},
    "swnn": {"S": 75},
}  # fmt: skip

LABEL_TREES = ("plt", "parabel", "oplt")

# Seconds of a pair (non-zero, node) in one pass.
PAIR = {"sgd": 2.5e-10, "adagrad": 6e-10, "batch": 1.8e-10}
REACHED = 1.8e-9  # and of a pair (instance, node): its estimate and its step
HASHED_PAIR, MISSED = 5.6e-9, 0.25  # a slot of a table in the cache; by how much more for each doubling of the table
CACHED = 4e6  # bytes
BASELINE = 40.0  # times as many seconds as our trees take, of other programs
WEIGHT, DROPPED = 1e-8, 4.5e-9  # of memory that is reached for the first time; of a weight that a cut drops
CLUSTERED = 0.85  # weights of a tree of similar labels: their instances have features in common
COMPACT = 1.85  # with a cut, the largest array is twice in memory
LEFT = {"batch": 0.34}  # of the weights that a cut may leave
LEFT_ONLINE = 1.4
CUT, CUT_POWER = 0.1, 2.4  # of that cut; of a larger one the less, by this power
POSITION, LABEL = 4.0, 5.0  # bytes of an instance that reaches a node, and of a label of an instance
WAVE = 2.7e8  # bytes of what a wave of blocks keeps, until its pieces are together
JOINED = 2.04  # a forest beside its trees
INDEXED, INDEXED_LABEL = 4.5, 10.0  # bytes of a non-zero, beside those that are counted of the data, and of a label
ONLINE_ROW = 2.0  # rows of weights that grow have up to twice the room that they need
BISECTED = 1.5e-8  # of a non-zero of the labels' representations, for each level of bisections
LABEL_FIT = 3.5e-7  # a non-zero in one label's logistic regressions, for each C of a grid and each fold


class Trained(NamedTuple):
    """What training comes to.

    Attributes
    ----------
    model_bytes : float
        Of the model as it is saved.
    working_bytes : float
        Model and what else training holds, without the data and their copies.
    seconds : float
        Processor seconds, without the start of the process.
    """

    model_bytes: float
    working_bytes: float
    seconds: float


def number(given: Hyperparameters, name: str, otherwise: float = 0.0) -> float:
    """Return a hyperparameter that is a number; another value where it is none."""
    value = given.get(name)
    return float(value) if isinstance(value, int | float) else otherwise


def kind_of(estimator: str) -> str:
    """Return whose law an estimator has: a baseline that of ours that its name ends with, any other that of SWNN."""
    return next((kind for kind in LAWS if estimator == kind or estimator.endswith(f"-{kind}")), "swnn")


def trained(estimator: str, given: Hyperparameters, shape: Shape) -> Trained:
    """Return what training comes to; hyperparameters that are not given have the estimator's defaults.

    Parameters
    ----------
    estimator : str
        As in a suite.
    given : dict
    shape : Shape
        Of the data to train on.
    """
    kind = kind_of(estimator)
    known = {name: value for name, value in given.items() if not isinstance(value, (list, dict))}
    found = LAWS[kind](DEFAULTS.get(kind, {}) | known, shape)
    return found if kind == estimator else found._replace(seconds=BASELINE * found.seconds)


def _label_tree(given: Hyperparameters, shape: Shape) -> Trained:
    if given.get("max_samples"):
        shape = shape.sampled(number(given, "max_samples"))
    costs = _tree(given, shape)
    epochs = number(given, "epochs")
    if given.get("hash_bits") is not None:
        table = _slots(given) + 16 * shape.m
        return Trained(table, table, HASHED_PAIR * times_in_cache(given) * costs.pairs * epochs)
    in_pass = PAIR.get(str(given["solver"]), PAIR["adagrad"]) * costs.pairs + REACHED * costs.reached
    kept = _kept(given, costs)
    weights = (WEIGHT * kept + DROPPED * (costs.dense_bytes - kept)) / 4
    seconds = epochs * in_pass + weights + _clustering(given, shape)
    if given.get("weight_cut") is None:
        return Trained(kept, kept, seconds)
    reach = POSITION * costs.positions + LABEL * shape.pairs
    return Trained(kept, COMPACT * kept + min(WAVE, costs.dense_bytes) + reach, seconds)


def times_in_cache(given: Hyperparameters) -> float:
    """Return how many times as long a slot of a hashed table takes as one in the cache."""
    return 1 + MISSED * max(0.0, math.log2(_slots(given) / CACHED))


def _slots(given: Hyperparameters) -> float:
    """Return the bytes of the slots."""
    return 4.0 * 2.0 ** number(given, "hash_bits")


def _kept(given: Hyperparameters, costs: TreeCosts) -> float:
    """Return the bytes of the weights that stay: all of them without a cut."""
    if given.get("weight_cut") is None:
        return costs.dense_bytes
    left = LEFT.get(str(given["solver"]), LEFT_ONLINE)
    cut = max(number(given, "weight_cut"), CUT)
    return min(costs.dense_bytes, left * math.pow(CUT / cut, CUT_POWER) * costs.compact_bytes)


def blocks_of(given: Hyperparameters, shape: Shape) -> Iterator[Blocks]:
    """Return the blocks of siblings of a label tree."""
    if _is_clustered(given):
        return clustered_blocks(shape.m, int(number(given, "arity")), int(number(given, "max_leaf")))
    return complete_blocks(shape.m, int(number(given, "arity")))


def _is_clustered(given: Hyperparameters) -> bool:
    return given.get("tree", "kmeans") == "kmeans"


def _tree(given: Hyperparameters, shape: Shape) -> TreeCosts:
    costs = tree_costs(shape, blocks_of(given, shape))
    return costs._replace(dense_bytes=CLUSTERED * costs.dense_bytes) if _is_clustered(given) else costs


def _clustering(given: Hyperparameters, shape: Shape) -> float:
    """Return the seconds of parting similar labels: each is represented by the features of its instances."""
    if not _is_clustered(given):
        return 0.0
    bisections = max(0.0, math.log2(shape.m / number(given, "max_leaf", 1.0)))
    features = min(float(shape.features_of(shape.instances_of(1.0))), number(given, "label_features", math.inf))
    return BISECTED * bisections * shape.m * features


def _parabel(given: Hyperparameters, shape: Shape) -> Trained:
    one, n_trees = _label_tree({**given, "solver": "batch"}, shape), number(given, "n_trees", 1.0)
    model = n_trees * one.model_bytes
    return Trained(model, model - one.model_bytes + one.working_bytes, n_trees * one.seconds)


def _fastxml(given: Hyperparameters, shape: Shape) -> Trained:
    n_trees, max_leaf = number(given, "n_trees"), int(number(given, "max_leaf"))
    model = n_trees * fastxml_bytes(shape, max_leaf, int(number(given, "labels_per_leaf")))
    seconds = n_trees * fastxml_seconds(int(shape.n_train), int(shape.values), int(shape.pairs), max_leaf)
    return _with_tail(number(given, "alpha"), shape, Trained(model, JOINED * model, seconds))


def _ldsm(given: Hyperparameters, shape: Shape) -> Trained:
    n_trees, arity, max_nodes = number(given, "n_trees"), int(number(given, "arity")), int(number(given, "max_nodes"))
    prune = bool(given.get("prune"))
    model = n_trees * ldsm_bytes(shape, max_nodes, arity, prune)
    dense = given["optimizer"] == "sgd"  # which standardises all features
    values = shape.n_train * shape.d if dense else shape.values
    seconds = n_trees * ldsm_seconds(
        int(shape.n_train), int(values), int(shape.pairs), max_nodes, arity, int(number(given, "epochs")), prune
    )
    working = JOINED * model + (8 * values if dense else 0)
    return _with_tail(number(given, "beta"), shape, Trained(model, working, seconds))


def _with_tail(forest_weight: float, shape: Shape, forest: Trained) -> Trained:
    """Add tail classifiers, one mean instance for each label, where the forest does not rank alone."""
    tail = 8 * shape.m * float(shape.features_of(shape.instances_of(1.0))) if forest_weight < 1 else 0.0
    return Trained(forest.model_bytes + tail, forest.working_bytes + 2 * tail, forest.seconds + 1e-8 * tail)


def _online_tree(given: Hyperparameters, shape: Shape) -> Trained:
    costs = tree_costs(shape, clustered_blocks(shape.m, int(number(given, "arity")), int(number(given, "max_leaf"))))
    size = ONLINE_ROW * costs.dense_bytes
    return Trained(size, ONLINE_ROW * size, PAIR["adagrad"] * costs.pairs * number(given, "epochs"))


def _logistic(given: Hyperparameters, shape: Shape) -> Trained:
    model = 4 * shape.m * (shape.d + 1 + shape.m / 2)
    return Trained(model, model + 16 * shape.values, LABEL_FIT * shape.m * shape.values)


def _index(given: Hyperparameters, shape: Shape) -> Trained:
    model = 12 * shape.values + 4 * shape.pairs + 16 * shape.n_train
    working = INDEXED * shape.values + INDEXED_LABEL * shape.pairs  # the copy of the data is the model's rows
    return Trained(model, working, 6e-8 * shape.values)


def _nothing(given: Hyperparameters, shape: Shape) -> Trained:
    return Trained(1e3, 0.0, 0.0)


LAWS: dict[str, Callable[[Hyperparameters, Shape], Trained]] = {
    "plt": _label_tree,
    "parabel": _parabel,
    "fastxml": _fastxml,
    "ldsm": _ldsm,
    "oplt": _online_tree,
    "br": _logistic,
    "pcc": _logistic,
    "swnn": _index,
    "oracle": _nothing,
}
