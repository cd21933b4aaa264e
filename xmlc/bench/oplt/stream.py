"""What an instance costs an online label tree as its stream goes on, beside training when the tree is known.

The stream is synthetic and never stops growing: it is a mixture of worlds, of which more and more open. An instance
belongs to one of the open worlds, any with the same probability; its labels and every second of its features are those
of its world alone. So labels and features keep appearing, while the numbers of them that an instance has stay the same.

One thread, one process, data drawn before the clock starts; times are processor seconds, which neighbours on the
machine disturb less. In the middle the model is saved and loaded, and the copy goes on with the same batches, which no
time includes.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse

from xmlc.bench.answers import differing
from xmlc.csr import kernel_csr, unit_rows
from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.kernels.counter_random import random_bits, stream_key
from xmlc.models.oplt import OPLT
from xmlc.models.oplt._plant import planted_as
from xmlc.models.oplt._tree import ENTRIES_WANTED, MARK, NODE, NODES_WANTED, SLOTS_WANTED
from xmlc.models.plt.training._pieces import reach_of, train_nodes
from xmlc.models.plt.training._siblings import ADAGRAD, Solver
from xmlc.models.plt.weights._nodes import CompactNodeWeights, NodeWeights
from xmlc.passport import WARM_UP_ROWS, passport, peak_bytes
from xmlc.trees import LabelTree

T = TypeVar("T")
WORLD: dict[str, Any] = {"n_features": 1000, "n_labels": 500, "labels_per_instance": 3.0, "nonzeros": 30}
WORLDS = 40
WORLD_STREAM = 0x0F1
BATCH = 10_000
PREFIXES = (0.25, 0.5, 1.0)  # of the stream, on which the tree is trained anew as if it had been known


class GrowingStream:
    """Instances of more and more worlds.

    Parameters
    ----------
    instances : int
        Length n of the stream; world w of `WORLDS` opens at row w * n / `WORLDS`.
    seed : int
    """

    def __init__(self, instances: int, seed: int = 0):
        self.instances, self.seed = instances, seed
        self._model = SyntheticModel(**WORLD, seed=seed)

    def draw(self, start: int, end: int) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Draw rows ``start .. end - 1``; the matrices are as wide as the worlds that have opened by then."""
        X, Y, _ = self._model.draw(start, end, n_jobs=1)
        rows = np.arange(start, end)
        opened = 1 + rows * WORLDS // self.instances
        key = stream_key(np.int64(self.seed), np.int64(WORLD_STREAM))
        drawn = [int(random_bits(key, row)) % count for row, count in zip(rows, opened.tolist())]
        worlds = np.array(drawn, dtype=np.int64)
        d, m = WORLD["n_features"], WORLD["n_labels"]
        features, labels = X.indices.astype(np.int64), Y.indices.astype(np.int64)
        own = features % 2 == 1
        features[own] += (worlds * d)[np.repeat(np.arange(rows.size), np.diff(X.indptr))[own]]
        labels += (worlds * m)[np.repeat(np.arange(rows.size), np.diff(Y.indptr))]
        width = int(opened[-1])
        wider = sparse.csr_array((X.data, features, X.indptr), shape=(rows.size, d * width))
        wider.sort_indices()
        return wider, sparse.csr_array((Y.data, labels, Y.indptr), shape=(rows.size, m * width))

    def batches(self, start: int, end: int) -> Iterator[tuple[sparse.csr_array, sparse.csr_array]]:
        """Draw rows ``start .. end - 1`` in batches."""
        for first in range(start, end, BATCH):
            yield self.draw(first, min(first + BATCH, end))


def measure_stream(instances: int = 1_000_000, portions: int = 10, **hyperparameters: Any) -> dict[str, Any]:
    """Learn a growing stream, portion by portion, with a copy from the middle on and training anew at the end of some.

    Parameters
    ----------
    instances : int
    portions : int
        Of about equal size, which are measured.
    **hyperparameters
        Of `OPLT`.

    Returns
    -------
    dict
        ``instances``, ``hyperparameters``; ``portions``: see `_portion`; ``differing``: arrays of the saved and resumed
        model that are not the same bits as those of the one that went on; ``prefixes``: see `_anew`; ``peak_bytes`` of
        the process; ``passport``.
    """
    stream = GrowingStream(instances)
    _rehearse(stream, hyperparameters)
    model = OPLT(n_jobs=1, **hyperparameters)
    resumed = OPLT()
    measured: list[dict[str, Any]] = []
    ends = [instances * (i + 1) // portions for i in range(portions)]
    anew = {ends[int(np.argmin([abs(end - share * instances) for end in ends]))] for share in PREFIXES}
    prefixes: list[dict[str, Any]] = []
    for start, end in zip([0, *ends[:-1]], ends):
        seconds, parts = 0.0, []
        for X, Y in stream.batches(start, end):
            seconds += _cpu_timed(partial(model.partial_fit, X, Y))[1]
            if 2 * start >= instances:
                resumed.partial_fit(X, Y)
            parts.append((X, Y))
        measured.append(_portion(model, parts, end, seconds))
        if 2 * start < instances <= 2 * end:
            resumed = _saved_and_loaded(model)
        if end in anew:
            prefixes.append(_anew(model, stream, end, sum(portion["seconds"] for portion in measured)))
    return {
        "instances": instances,
        "hyperparameters": hyperparameters,
        "portions": measured,
        "differing": [] if resumed is None else differing(_learned(model), _learned(resumed)),
        "prefixes": prefixes,
        "peak_bytes": peak_bytes(),
        "passport": passport(1),
    }


class _KnownTree(OPLT):
    """An OPLT whose tree is there from the beginning: IPLT (Algorithm 1) by the same code, ready to grow as well."""

    def _start(self) -> None:
        super()._start()
        self._online = planted_as(*self._known, self._settings())

    def knowing(self, tree: LabelTree, labels: np.ndarray) -> Self:
        """Say which tree, and the label that each of its labels stands for."""
        self._known = tree, labels
        return self


def _portion(
    model: OPLT, parts: list[tuple[sparse.csr_array, sparse.csr_array]], end: int, seconds: float
) -> dict[str, Any]:
    """Say what a portion of the stream cost.

    Returns
    -------
    dict
        ``end``: instances so far; ``labels`` seen and ``features``, the width of the matrices; ``nodes`` and ``depth``
        of the tree; ``seconds``, and ``us`` for an instance; ``updates``: node classifiers that an instance trains, on
        average, in the tree as it stands now; ``ns`` for each of them and each non-zero; ``model_bytes``.
    """
    X, Y = _together(parts)
    tree, labels = model.tree_, model.labels_
    n = X.shape[0]
    reach = reach_of(kernel_csr(Y[:, labels]), tree, np.arange(n))
    positives = np.diff(reach.node_starts)
    updates = n + int(positives @ np.diff(tree.children))
    return {
        "end": end,
        "labels": labels.size,
        "features": model.n_features_in_,
        "nodes": tree.n_nodes,
        "depth": int(tree.depth.max()),
        "seconds": seconds,
        "us": 1e6 * seconds / n,
        "updates": updates / n,
        "ns": 1e9 * seconds / (updates * X.nnz / n),
        "model_bytes": _array_bytes(model._state()[0]),
    }


def _anew(model: OPLT, stream: GrowingStream, end: int, seconds: float) -> dict[str, Any]:
    """Train the tree as it stands on the stream so far, as if it had been known (Definitions 1 and 2).

    Returns
    -------
    dict
        ``end``; ``seconds`` of all that the model learned; ``known_seconds`` of the same code on the known tree,
        ``known_bytes`` of its model and ``known_differing``: node weights that are not the same bits; ``node_seconds``,
        ``node_bytes`` and ``node_differing`` of `PLT`'s training node by node, which reads the whole prefix at once.
    """
    X, Y = _together(list(stream.batches(0, end)))
    grown = model.to_plt().nodes_._asdict()
    known = _KnownTree().set_params(**model.get_params()).knowing(model.tree_, model.labels_)
    _, known_seconds = _cpu_timed(lambda: known.partial_fit(X, Y))
    nodes, node_seconds = _cpu_timed(lambda: _node_by_node(model, X, Y))
    return {
        "end": end,
        "seconds": seconds,
        "model_bytes": _array_bytes(model._state()[0]),
        "known_seconds": known_seconds,
        "known_bytes": _array_bytes(known._state()[0]),
        "known_differing": differing(grown, known.to_plt().nodes_._asdict()),
        "node_seconds": node_seconds,
        "node_bytes": _array_bytes(nodes._asdict()),
        "node_differing": differing(grown, nodes._asdict()),
    }


def _node_by_node(model: OPLT, X: sparse.csr_array, Y: sparse.csr_array) -> NodeWeights | CompactNodeWeights:
    """Train the model's tree as `PLT` does with AdaGrad."""
    x, y = kernel_csr(unit_rows(X) if model.unit_norm else X), kernel_csr(Y[:, model.labels_])
    solver = Solver(ADAGRAD, float(model.gamma), float(model.eps), 1, np.uint64(0))
    return train_nodes(x, y, X.shape[1], model.tree_, np.arange(X.shape[0]), solver, None, 1)


def _rehearse(stream: GrowingStream, hyperparameters: dict[str, Any]) -> None:
    """Do all that will be measured once, on few instances, so that every kernel is compiled."""
    X, Y = stream.draw(0, max(WARM_UP_ROWS, 64))
    model = OPLT(n_jobs=1, **hyperparameters).partial_fit(X, Y)
    _portion(model, [(X, Y)], X.shape[0], 1.0)
    _KnownTree().set_params(**model.get_params()).knowing(model.tree_, model.labels_).partial_fit(X, Y)
    _node_by_node(model, X, Y)


def _learned(model: OPLT) -> dict[str, np.ndarray]:
    """Return a model's arrays without what tells one instance's nodes from another's while it is learned.

    Learning counts those marks; it begins an instance again when it has asked for memory, and a model that was just
    loaded has no memory to spare.
    """
    arrays = dict(model._state()[0])
    arrays["counters"] = np.delete(arrays["counters"], [MARK, NODES_WANTED, SLOTS_WANTED, ENTRIES_WANTED])
    nodes = arrays.pop("nodes")
    kept = [name for name in NODE.names or () if name not in ("stamp", "head", "next_positive")]
    return arrays | {f"nodes.{name}": nodes[name] for name in kept}


def _saved_and_loaded(model: OPLT) -> OPLT:
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return OPLT.load(Path(folder) / "model").set_params(n_jobs=1)


def _together(parts: list[tuple[sparse.csr_array, sparse.csr_array]]) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Stack batches, each of which is at most as wide as the last."""
    stacked = []
    for matrices in zip(*parts):
        width = matrices[-1].shape[1]
        same = [sparse.csr_array((A.data, A.indices, A.indptr), shape=(A.shape[0], width)) for A in matrices]
        stacked.append(sparse.csr_array(sparse.vstack(same, format="csr")))
    return stacked[0], stacked[1]


def _cpu_timed(work: Callable[[], T]) -> tuple[T, float]:
    """Call ``work`` and return its result and the processor seconds it took."""
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def _array_bytes(arrays: dict[str, np.ndarray]) -> int:
    return sum(array.nbytes for array in arrays.values())
