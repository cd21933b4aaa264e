"""Ranking by a PLT beside the bare reads of the weights that it visits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from xmlc.bench.harness import PREDICTION, TOP, Data
from xmlc.bench.limits._plt_visits import count_known, one_level, touch_blocks
from xmlc.bench.limits.work import Arrays, Work
from xmlc.bench.plt._access import LANES
from xmlc.bench.plt.contenders import SEARCHES, name_of, solver_settings, with_hyperparameters
from xmlc.models.plt import PLT
from xmlc.models.plt.search import (
    Frontier,
    MayWin,
    Queries,
    empty_beams,
    empty_frontier,
    empty_queues,
    root_frontier,
    those_that_may_win,
)
from xmlc.runtime.parallel import run_pieces
from xmlc.runtime.threads import numba_threads

UNIT = "non-zero x node"
PIECES = 16  # of the bare accesses


@dataclass(frozen=True)
class Visits:
    """Blocks that a search opens, in its order, and what instances have of their features.

    Attributes
    ----------
    nodes : int32 (visits,)
        Whose children; -1 for the root's block.
    ends : int64 (visits + 1,), ids : uint32, values : float32
        See `count_known`.
    """

    nodes: np.ndarray
    ends: np.ndarray
    ids: np.ndarray
    values: np.ndarray


def works(data: Data) -> Iterator[Work]:
    """Yield the rankings of all test instances by both solvers' models and each search."""
    for solver, settings in solver_settings(data.name).items():
        model = PLT(n_jobs=1).set_params(**settings).fit(data.X, data.Y)
        for name, search in SEARCHES.items():
            yield ranking(name_of(solver, name), with_hyperparameters(model, search=search), data)


def ranking(contender: str, model: PLT, data: Data) -> Work:
    """Return the work of ranking the test instances by a model and its search."""
    call = ranked_by(model, data)
    call(1)
    queries = model._queries(data.X_test, "")
    visits = visits_of(queries, model)
    nonzeros = np.diff(queries.x.indptr)
    units = float(nonzeros @ model.inner_products_)
    opened, known = visits.nodes.size / nonzeros.size, visits.ids.size / max(visits.nodes.size, 1)
    return Work(
        contender=contender,
        task=PREDICTION,
        unit=UNIT,
        units=units,
        call=call,
        bare=lambda threads: touch(visits, model, threads),
        bare_units=units,
        note=f"an instance opens {opened:.1f} blocks, which know {known:.1f} of its {nonzeros.mean():.1f} features",
    )


def ranked_by(model: PLT, data: Data) -> Callable[[int], Arrays]:
    """Return the ranking of the test instances on so many threads."""

    def call(threads: int) -> Arrays:
        with numba_threads(threads), warnings.catch_warnings(action="ignore"):
            labels, scores = model.set_params(n_jobs=threads).predict_top_k(data.X_test, TOP)
        return {"labels": labels, "scores": scores, "inner products": model.inner_products_}

    return call


def visits_of(queries: Queries, model: PLT) -> Visits:
    """Return what a model's search visits for some instances."""
    root = root_frontier(queries.n_rows)
    if model.search == "exact":
        levels, _ = walked(queries, model, root, empty_queues(queries.n_rows, TOP))
    else:
        beams = empty_beams(queries.n_rows, TOP, max(model.beam, TOP), model.search == "certified")
        levels, found = walked(queries, model, root, beams)
    if model.search == "certified":
        missed = those_that_may_win(found.unopened, found.n_unopened, found.leaves)
        more, _ = walked(queries, model, missed, MayWin(found.leaves, empty_frontier(0), 0))
        levels += more
    whole = Frontier(*(np.concatenate(arrays) for arrays in zip(*levels, strict=True)))
    ends = np.zeros(whole.rows.size + 1, dtype=np.int64)
    ids, values = np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.float32)
    for _ in range(2):  # count first
        count_known(queries.x, whole.rows, whole.nodes, model.nodes_, ends, ids, values)
        ids, values = np.resize(ids, ends[-1]), np.resize(values, ends[-1])
    return Visits(whole.nodes, ends, ids, values)


def walked(queries: Queries, model: PLT, frontier: Frontier, collector: Any) -> tuple[list[Frontier], Any]:
    """Return the nodes that are expanded on each level or in each round, and the collector at the end."""
    levels = []
    while frontier.rows.size:
        levels.append(frontier)
        frontier, collector = one_level(queries.x, frontier, model.nodes_, queries.link, collector, queries.shape)
    return levels, collector


def touch(visits: Visits, model: PLT, threads: int) -> None:
    """Make the bare accesses of some visits on so many threads, in pieces of about equally many rows of weights."""
    bounds = np.searchsorted(visits.ends, np.linspace(0, visits.ends[-1], PIECES + 1)[1:-1])
    bounds = np.concatenate(([0], bounds, [visits.nodes.size]))
    pieces = [
        (visits.nodes[low:high], visits.ends[low : high + 1], visits.ids, visits.values, model.nodes_, sums)
        for low, high in pairwise(bounds)
        for sums in [np.zeros(max(model._max_degree(), LANES), dtype=np.float32)]
    ]
    run_pieces(touch_blocks, pieces, threads)
