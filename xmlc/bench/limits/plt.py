"""Training of the PLT beside the bare accesses to its rows of weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from xmlc.bench.harness import TRAINING, Data
from xmlc.bench.limits.work import Arrays, Work
from xmlc.bench.plt._access import read_step_and_write_rows
from xmlc.bench.plt.contenders import learned, name_of, solver_settings
from xmlc.bench.plt.limits import PATTERNS, Instances, by_width
from xmlc.bench.plt.pairs import block_degrees, training_pairs, training_reach
from xmlc.csr import kernel_csr
from xmlc.models.plt import PLT
from xmlc.runtime.parallel import run_pieces

STEPS = "with steps"  # Newton's method for each pair of an instance and a node is no access, and cannot be left out
UNIT = "non-zero x node of a pass"
PAIRS_PER_PIECE = 1 << 22  # of a non-zero and a node, touched by one thread
ONE = np.float32(1e-3)  # what rows hold: no number that takes a processor longer


def works(data: Data) -> Iterator[Work]:
    """Yield the training of each solver.

    A training is all of `fit`. It is counted by the pairs that its passes visit: those of a non-zero and a node
    classifier that is still in training. The bare accesses are one pass over all blocks: those of `PATTERNS` to rows
    of the blocks' own sizes. With the logistic loss a second line has them with the steps of the dual variables.
    """
    for solver, settings in solver_settings(data.name).items():
        model = PLT(n_jobs=1).set_params(**settings).fit(data.X, data.Y)
        pairs = training_pairs(data.X, data.Y, model.tree_)
        limits = {name_of(solver): PATTERNS[solver]}
        if solver == "batch" and model.loss == "logistic":
            limits[f"{name_of(solver)}, {STEPS}"] = (read_step_and_write_rows, 1)
        for name, limit in limits.items():
            bare, touched = bare_pass(data, model, *limit)
            yield Work(
                contender=name,
                task=TRAINING,
                unit=UNIT,
                units=pairs * model.passes_,
                call=partial(_trained, model, data),
                bare=bare,
                bare_units=touched,
                note=f"{model.passes_:.1f} passes",
            )


def bare_pass(data: Data, model: PLT, kernel: Callable[..., None], numbers: int) -> tuple[Callable[[int], object], int]:
    """Return what touches the rows of one pass on so many threads, and how many pairs that are.

    Parameters
    ----------
    data : Data
    model : PLT
        Whose tree says which blocks there are.
    kernel : callable
        Of ends, ids, values, rows and sums, as `PATTERNS` has them.
    numbers : int
        Of a row, for each sibling.
    """
    reach = training_reach(data.X, data.Y, model.tree_)
    groups = by_width(kernel_csr(data.X), reach, block_degrees(model.tree_), data.X.shape[1])
    pieces = [(width, *piece) for width, found in groups.items() for piece in _pieces(found, width)]
    largest = max((width * numbers * (int(ids.max(initial=0)) + 1) for width, (_, ids, _) in groups.items()), default=0)
    rooms: list[np.ndarray] = []  # of rows: as many as there are threads, allocated once

    def touch(width: int, ends: np.ndarray, ids: np.ndarray, values: np.ndarray) -> None:
        rows = rooms.pop() if rooms else np.full(largest, ONE, dtype=np.float32)
        kernel(ends, ids, values, rows, np.zeros(width, dtype=np.float32))
        rooms.append(rows)

    pairs = sum(width * ids.size for width, (_, ids, _) in groups.items())
    return lambda threads: run_pieces(touch, pieces, threads), pairs


def _pieces(instances: Instances, width: int) -> Iterator[Instances]:
    """Cut instances into runs of about equally many pairs."""
    ends, ids, values = instances
    run = ends[:-1] * width // PAIRS_PER_PIECE
    starts = np.flatnonzero(np.diff(run, prepend=-1))
    for start, end in zip(starts, [*starts[1:], run.size]):
        yield ends[start : end + 1], ids, values


def _trained(model: PLT, data: Data, threads: int) -> Arrays:
    return learned(model.unfitted().set_params(n_jobs=threads).fit(data.X, data.Y))
