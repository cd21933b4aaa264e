"""What a task of an estimator does, counted, and the same memory accesses with hardly anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from xmlc.bench.harness import PREDICTION, TOP
from xmlc.runtime.parallel import row_blocks, run_pieces

T = TypeVar("T")
Arrays = Mapping[str, np.ndarray]
ROWS = 256  # of a piece of the sums over leaves


@dataclass(frozen=True, kw_only=True)
class Work:
    """A task of an estimator, such as its training, beside its bare accesses.

    Both are called once before they are measured, so that kernels are compiled. The bare accesses touch what the task
    must touch, in its order, with the arithmetic that cannot be left out; the docstring of their kernel says what it
    leaves out. Where the whole would take too long they may be those of a part: ``bare_units`` says of how much.
    """

    #: Who, such as "FastXML, 10 trees".
    contender: str
    #: `xmlc.bench.harness.TRAINING` or `PREDICTION`, or another that one phrase names.
    task: str
    #: What its work is in proportion to, such as "non-zero x node".
    unit: str
    #: How many of them a call of the task has.
    units: float
    #: The task on so many threads; returns every array of its result, to be compared bit by bit.
    call: Callable[[int], Arrays]
    #: The bare accesses on so many threads, shared out as fixed pieces of about equal cost.
    bare: Callable[[int], object]
    #: How many units the bare accesses have.
    bare_units: float
    #: What the units do not say, in a phrase.
    note: str = ""


def ranking_call(model: Any, X: sparse.csr_array) -> Callable[[int], Arrays]:
    """Return the ranking of the best labels of X by a fitted estimator, as `Work.call`."""

    def call(threads: int) -> Arrays:
        labels, scores = copy(model).set_params(n_jobs=threads).predict_top_k(X, TOP)
        return {"labels": labels, "scores": scores}

    return call


def forest_name(title: str, model: Any) -> str:
    """Name a forest by how many trees it has."""
    return f"{title}, {model.n_trees} trees"


def forest_ranking(
    title: str,
    model: Any,
    X: sparse.csr_array,
    unit: str,
    nonzeros: float,
    own_labels: float,
    paths: Iterable[T],
    descend: Callable[[T], float],
    add_up: Callable[[int, int], float],
) -> Work:
    """Return the ranking of the best labels of X by a fitted forest.

    Parameters
    ----------
    title : str
        Of the estimator.
    model : FastXML or LdSM
    X : csr_array
    unit : str
        What non-zeros are counted by; labels of leaves are counted too.
    nonzeros, own_labels : float
        That are read: of instances in all nodes that they pass, and labels of the leaves they reach.
    paths : iterable
        Of each tree, which nodes instances pass.
    descend : callable
        Reads what a tree's descents must.
    add_up : callable
        Reads the leaves' labels of the rows from the first number to before the second.
    """
    units, trees = nonzeros + own_labels, [(own,) for own in paths]

    def bare(threads: int) -> None:
        run_pieces(descend, trees, threads)
        run_pieces(add_up, row_blocks(X.shape[0], ROWS), threads)

    return Work(
        contender=forest_name(title, model),
        task=PREDICTION,
        unit=f"{unit}, or label of a leaf",
        units=units,
        call=ranking_call(model, X),
        bare=bare,
        bare_units=units,
        note=f"labels {100 * own_labels / units:.0f} %",
    )
