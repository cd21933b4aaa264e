"""What training and prediction of a PLT touch, how long that takes at the least, and where the time goes."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.bench.plt._access import LANES, read_and_write_rows, read_and_write_squares, read_rows
from xmlc.csr import KernelCSR, kernel_csr
from xmlc.kernels.counter_random import mix64
from xmlc.models.plt import PLT
from xmlc.models.plt.training._gather import gather_rows
from xmlc.models.plt.training._pieces import reach_of
from xmlc.models.plt.training._siblings import Reach
from xmlc.passport import timed
from xmlc.trees import LabelTree

CACHED_BYTES = 1 << 14  # of rows: half a first cache
DRAM_BYTES = 1 << 29  # more than any cache
NONZEROS = 1 << 23  # of instances, counted at each of their blocks, that the measured accesses are for
PATTERNS: dict[str, tuple[Callable[..., None], int]] = {  # and how many numbers of a row belong to a sibling
    "read": (read_rows, 1),
    "read, add": (read_and_write_rows, 1),
    "read, AdaGrad": (read_and_write_squares, 2),
}
TRAINING = "training of the nodes"
PHASES = {  # steps of a fit by the module and the name of their function
    ("kmeans", "label_representations"): "tree: label representations",
    ("kmeans", "kmeans_tree"): "tree: bisections",
    ("complete", "random_complete_tree"): "tree: random",
    ("huffman", "huffman_tree"): "tree: Huffman",
    ("_pieces", "reach_of"): "who reaches which node",
    ("_gather", "count_features"): "features of the nodes",
    ("_gather", "fill_features"): "features of the nodes",
    ("_siblings", "train_siblings"): TRAINING,
    ("_compact", "compact_blocks"): "dropping weights",
    ("_compact", "join_compact"): "dropping weights",
}
REST = "checks, unit length, memory"
PHASE_NAMES = (*dict.fromkeys(PHASES.values()), REST)


def training_reach(X: sparse.csr_array, Y: sparse.csr_array, tree: LabelTree) -> Reach:
    """Return which instances reach which nodes, in the order of the rows."""
    return reach_of(kernel_csr(Y), tree, np.arange(X.shape[0], dtype=np.int64))


def block_degrees(tree: LabelTree) -> np.ndarray:
    """Return how many classifiers each block holds: 1 for the root's, for node t + 1 the children of node t."""
    return np.concatenate(([1], np.diff(tree.children)))


def training_pairs(X: sparse.csr_array, Y: sparse.csr_array, tree: LabelTree) -> int:
    """Count the pairs (non-zero, node) of a pass: the non-zeros of an instance for each node classifier it trains."""
    reach = training_reach(X, Y, tree)
    nonzeros = np.concatenate(([0], np.cumsum(np.diff(X.indptr)[reach.block_positions])))
    return int(np.diff(nonzeros[reach.block_starts]) @ block_degrees(tree))


def prediction_pairs(model: PLT, X: sparse.csr_array) -> int:
    """Count those of the model's last prediction, which was for X: non-zeros times classifiers evaluated."""
    return int(np.diff(X.indptr).astype(np.int64) @ model.inner_products_)


def phases(model: PLT, X: sparse.csr_array, Y: sparse.csr_array) -> dict[str, float]:
    """Train on one thread and return the seconds of each step, by Python's profiler: nothing is timed inside a kernel.

    Parameters
    ----------
    model : PLT
        With ``n_jobs`` 1, because the profiler sees one thread; its kernels compiled.
    """
    profiler = cProfile.Profile()
    _, total = timed(lambda: profiler.runcall(model.fit, X, Y))
    seconds: dict[str, float] = {}
    for (file, _, name), (*_, cumulative, _callers) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]  # undocumented
        phase = PHASES.get((Path(file).stem, name))
        if phase:
            seconds[phase] = seconds.get(phase, 0.0) + cumulative
    return seconds | {REST: total - sum(seconds.values())}


def pass_seconds(model: PLT, X: sparse.csr_array, Y: sparse.csr_array, rounds: int) -> tuple[float, float]:
    """Return what one more pass over the training set takes, and what training of the nodes takes beside its passes.

    Models of one and of three passes are trained, "batch" without stopping before, and the best times of the rounds are
    compared.
    """
    models = {passes: model.unfitted().set_params(epochs=passes, tol=0.0) for passes in (1, 3)}
    turns = [{passes: phases(shorter, X, Y)[TRAINING] for passes, shorter in models.items()} for _ in range(rounds)]
    first, three = (min(turn[passes] for turn in turns) for passes in (1, 3))
    one = (three - first) / 2
    return one, first - one


def access_limits(
    X: sparse.csr_array, Y: sparse.csr_array, tree: LabelTree, rounds: int
) -> dict[str, dict[str, float]]:
    """Measure how long the machine needs, at the least, for each (non-zero, node) that training or prediction reaches.

    The non-zeros of the training set, block by block as they are reached in training, each touch a row of the block's
    siblings: rows of the blocks' own sizes, rows that fit the first cache, and rows scattered over more memory than any
    cache. Siblings are rounded up to a multiple of 16, and counted so. About `NONZEROS` of them are taken.

    Parameters
    ----------
    tree : LabelTree
        As trained.
    rounds : int
        The best counts.

    Returns
    -------
    dict of dict
        Nanoseconds per pair by pattern (`PATTERNS`) and by where rows are: "cached", "blocks", "DRAM".
    """
    x = kernel_csr(X)
    groups = _by_width(x, training_reach(X, Y, tree), block_degrees(tree), X.shape[1])
    pairs = sum(width * ids.size for width, (_, ids, _) in groups.items())
    limits: dict[str, dict[str, float]] = {}
    for pattern, (kernel, numbers) in PATTERNS.items():
        seconds = dict.fromkeys(("cached", "blocks", "DRAM"), 0.0)
        for width, (ends, ids, values) in groups.items():
            for where, found in _placements(ids, 4 * width * numbers).items():
                seconds[where] += _best_seconds(kernel, (ends, found, values), width, numbers, rounds)
        limits[pattern] = {where: 1e9 * value / max(pairs, 1) for where, value in seconds.items()}
    return limits


def _best_seconds(
    kernel: Callable[..., None], instances: tuple[np.ndarray, ...], width: int, numbers: int, rounds: int
) -> float:
    ends, ids, values = instances
    rows = np.full((int(ids.max(initial=0)) + 1) * width * numbers, 1e-3, dtype=np.float32)
    sums = np.zeros(width, dtype=np.float32)
    kernel(ends[:2], ids, values, rows, sums)
    return min(timed(lambda: kernel(*instances, rows, sums))[1] for _ in range(rounds))


def _placements(ids: np.ndarray, row_bytes: int) -> dict[str, np.ndarray]:
    """Return which row each non-zero touches, uint32, if there are few rows, those of the blocks, or very many."""
    few, many = (np.uint64(max(size // row_bytes, 1)) for size in (CACHED_BYTES, DRAM_BYTES))
    anywhere = mix64.py_func(np.arange(ids.size, dtype=np.uint64)) % many  # a feature is elsewhere the next time
    return {"cached": ids % np.uint32(few), "blocks": ids, "DRAM": anywhere.astype(np.uint32)}


def _by_width(
    x: KernelCSR, reach: Reach, degrees: np.ndarray, n_features: int
) -> dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Gather the instances that reach each block, features renumbered; blocks of equally wide rows one after the other.

    Returns
    -------
    dict
        By width, a multiple of 16: ends (int64), ids (uint32) and values (float32).
    """
    local = np.empty(n_features, dtype=np.uint32)
    touched = np.diff(x.indptr)[reach.block_positions].sum()
    n_rows = int(np.ceil(reach.order.size * min(1.0, NONZEROS / max(touched, 1))))
    widths = -(-degrees // LANES) * LANES
    gathered: dict[int, list[tuple[Any, ...]]] = {}
    for block in np.flatnonzero((degrees > 0) & (np.diff(reach.block_starts) > 0)):
        rows = reach.block_positions[reach.block_starts[block] : reach.block_starts[block + 1]].astype(np.int64)
        kept = rows[rows < n_rows]
        if kept.size:
            features = np.unique(np.concatenate([x.indices[x.indptr[row] : x.indptr[row + 1]] for row in rows]))
            local[features] = np.arange(features.size, dtype=np.uint32)
            gathered.setdefault(int(widths[block]), []).append(gather_rows(*x, kept, local))
    return {width: _joined(parts) for width, parts in gathered.items()}


def _joined(parts: list[tuple[Any, ...]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    counts = np.concatenate([np.diff(ends) for ends, _, _ in parts])
    ends = np.concatenate(([0], np.cumsum(counts)))
    return ends, np.concatenate([ids for _, ids, _ in parts]), np.concatenate([values for *_, values in parts])
