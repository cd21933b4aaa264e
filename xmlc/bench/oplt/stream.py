"""What an instance costs an online label tree as its stream goes on, compared with training when the tree is known.

The stream is synthetic, see `GrowingStream`. One thread, one process, data drawn before the clock starts; times are
processor seconds, which other work on the machine affects less. In the middle the model is saved and loaded, and the
copy goes on with the same batches, which no time includes.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
from scipy import sparse

from xmlc.bench.harness import CPU_TIME, Rows, differing
from xmlc.bench.oplt.growing import Batch, GrowingStream, together
from xmlc.bench.rows import RATIO, Contender, Report
from xmlc.csr import kernel_csr, unit_rows
from xmlc.estimator import Hyperparameters
from xmlc.models.oplt import OPLT, planted_as
from xmlc.models.oplt.tree import ENTRIES_WANTED, MARK, NODE, NODES_WANTED, SLOTS_WANTED
from xmlc.models.plt.training import AdaGrad, reach_of, train_nodes
from xmlc.models.plt.weights import CompactNodeWeights, NodeWeights
from xmlc.passport import WARM_UP_ROWS
from xmlc.trees import LabelTree

T = TypeVar("T")
PORTIONS, RESUMED = "portions of the stream", "saved, loaded and continued"
KNOWN, BY_NODE = "tree known from the start", "tree known, trained node by node"
PER_UPDATE = "CPU time of an update and non-zero"
PREFIXES = (0.25, 0.5, 1.0)  # of the stream, on which the tree is trained anew as if it had been known


def bench_stream(instances: int = 1_000_000, portions: int = 10, **hyperparameters: object) -> Report:
    """Learn a growing stream, portion by portion, with a copy from the middle on and training anew at the end of some.

    Parameters
    ----------
    instances : int
    portions : int
        Of about equal size, which are measured.
    **hyperparameters
        Of `OPLT`.
    """
    stream, rows = GrowingStream(instances), Rows("oplt-stream", "growing stream")
    _warm_up(stream, hyperparameters)
    model, resumed, seconds = OPLT(n_jobs=1).set_params(**hyperparameters), None, []
    ends = [instances * (i + 1) // portions for i in range(portions)]
    anew = {ends[int(np.argmin([abs(end - share * instances) for end in ends]))] for share in PREFIXES}
    for start, end in zip([0, *ends[:-1]], ends):
        parts, spent = _learn(model, resumed, stream.batches(start, end))
        seconds.append(spent)
        add_portion(rows, model, parts, end, spent)
        if 2 * start < instances <= 2 * end:
            resumed = _saved_and_loaded(model)
        if end in anew:
            add_prefix(rows, model, stream, end, sum(seconds))
    if resumed is not None:
        rows.add_same_bits(RESUMED, "saving in the middle", differing(_learned(model), _learned(resumed)), 1)
    by_portion = [row.value for row in rows.all if (row.task, row.measure) == (PORTIONS, PER_UPDATE)]
    rows.add("last portion / second", "growth of the cost", PER_UPDATE, RATIO, by_portion[-1] / by_portion[1])
    rows.add_process()
    return rows.report(
        about=f"{instances} instances; processor seconds; the peak of memory includes what is trained anew",
        contenders=[Contender("OPLT", "this package", hyperparameters)],
    )


def _learn(model: OPLT, resumed: OPLT | None, batches: Iterable[Batch]) -> tuple[list[Batch], float]:
    """Learn some batches, with a copy too if there is one; return them, and the seconds of the model."""
    seconds, parts = 0.0, []
    for X, Y in batches:
        seconds += _cpu_timed(partial(model.partial_fit, X, Y))[1]
        if resumed is not None:
            resumed.partial_fit(X, Y)
        parts.append((X, Y))
    return parts, seconds


class _KnownTree(OPLT):
    """An OPLT whose tree is there from the beginning: IPLT (Algorithm 1) by the same code, ready to grow as well."""

    def _start(self) -> None:
        super()._start()
        self._online = planted_as(*self._known, self._settings())

    def knowing(self, tree: LabelTree, labels: np.ndarray) -> Self:
        """Say which tree, and the label that each of its labels stands for."""
        self._known = tree, labels
        return self


def add_portion(rows: Rows, model: OPLT, parts: list[Batch], end: int, seconds: float) -> None:
    """Add what a portion of the stream cost.

    An update is that of one node classifier by one instance, in the tree as it stands now.
    """
    X, Y = together(parts)
    tree, labels = model.tree_, model.labels_
    n = X.shape[0]
    reach = reach_of(kernel_csr(Y[:, labels]), tree, np.arange(n))
    updates = n + int(np.diff(reach.node_starts) @ np.diff(tree.children))
    figures: dict[tuple[str, str], float] = {
        ("labels", ""): labels.size,
        ("features", ""): model.n_features_in_,
        ("nodes", ""): tree.n_nodes,
        ("depth", ""): int(tree.depth.max()),
        (CPU_TIME, "s"): seconds,
        ("CPU time of an instance", "µs"): 1e6 * seconds / n,
        ("updates of an instance", ""): updates / n,
        (PER_UPDATE, "ns"): 1e9 * seconds / (updates * X.nnz / n),
        ("model", "MB"): _megabytes(model._state()[0]),
    }
    rows.add_each(f"to {end}", PORTIONS, figures)


def add_prefix(rows: Rows, model: OPLT, stream: GrowingStream, end: int, seconds: float) -> None:
    """Train the tree as it stands on the stream so far, as if it had been known (Definitions 1 and 2), and compare."""
    X, Y = together(list(stream.batches(0, end)))
    grown = model.to_plt().nodes_._asdict()
    known = _KnownTree().set_params(**model.get_params()).knowing(model.tree_, model.labels_)
    _, known_seconds = _cpu_timed(lambda: known.partial_fit(X, Y))
    nodes, node_seconds = _cpu_timed(lambda: _node_by_node(model, X, Y))
    ours, task = "grown online", f"first {end} instances"
    rows.add_each(ours, task, {(CPU_TIME, "s"): seconds, ("model", "MB"): _megabytes(model._state()[0])})
    trained = (
        (KNOWN, known_seconds, known._state()[0], known.to_plt().nodes_._asdict()),
        (BY_NODE, node_seconds, nodes._asdict(), nodes._asdict()),
    )
    for name, spent, state, weights in trained:
        rows.add_each(name, task, {(CPU_TIME, "s"): spent, ("model", "MB"): _megabytes(state)})
        rows.add_same_bits(name, task, differing(grown, weights), 1)
    rows.compare(ours, KNOWN, task)


def _node_by_node(model: OPLT, X: sparse.csr_array, Y: sparse.csr_array) -> NodeWeights | CompactNodeWeights:
    """Train the model's tree as `PLT` does with AdaGrad."""
    x, y = kernel_csr(unit_rows(X) if model.unit_norm else X), kernel_csr(Y[:, model.labels_])
    solver = AdaGrad(float(model.gamma), float(model.eps), 1)
    return train_nodes(x, y, X.shape[1], model.tree_, np.arange(X.shape[0]), solver, None, 1)[0]


def _warm_up(stream: GrowingStream, hyperparameters: Hyperparameters) -> None:
    """Do all that will be measured once, on few instances, so that every kernel is compiled."""
    X, Y = stream.draw(0, max(WARM_UP_ROWS, 64))
    model = OPLT(n_jobs=1).set_params(**hyperparameters).partial_fit(X, Y)
    add_portion(Rows("", ""), model, [(X, Y)], X.shape[0], 1.0)
    _KnownTree().set_params(**model.get_params()).knowing(model.tree_, model.labels_).partial_fit(X, Y)
    _node_by_node(model, X, Y)


def _learned(model: OPLT) -> dict[str, np.ndarray]:
    """Return a model's arrays without what tells one instance's nodes from another's while it is learned.

    Learning counts those marks; it begins an instance again when it needs more memory, and a model that was just loaded
    has no spare memory.
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


def _cpu_timed(work: Callable[[], T]) -> tuple[T, float]:
    """Call ``work`` and return its result and the processor seconds it took."""
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def _megabytes(arrays: Mapping[str, np.ndarray]) -> float:
    return sum(array.nbytes for array in arrays.values()) / 1e6
