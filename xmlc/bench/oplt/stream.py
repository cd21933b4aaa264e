"""What an instance costs an online label tree as its stream goes on, beside training when the tree is known.

The stream is synthetic, see `GrowingStream`. One thread, one process, data drawn before the clock starts; times are
processor seconds, which neighbours on the machine disturb less. In the middle the model is saved and loaded, and the
copy goes on with the same batches, which no time includes.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
from scipy import sparse

from xmlc.bench.answers import differing
from xmlc.bench.oplt.growing import Batch, GrowingStream, together
from xmlc.csr import kernel_csr, unit_rows
from xmlc.estimator import Hyperparameters
from xmlc.models.oplt import OPLT, planted_as
from xmlc.models.oplt.tree import ENTRIES_WANTED, MARK, NODE, NODES_WANTED, SLOTS_WANTED
from xmlc.models.plt.training import AdaGrad, reach_of, train_nodes
from xmlc.models.plt.weights import CompactNodeWeights, NodeWeights
from xmlc.passport import WARM_UP_ROWS, Passport, passport, peak_bytes
from xmlc.trees import LabelTree

T = TypeVar("T")
PREFIXES = (0.25, 0.5, 1.0)  # of the stream, on which the tree is trained anew as if it had been known


@dataclass(frozen=True)
class Portion:
    """What a portion of the stream cost.

    Attributes
    ----------
    end : int
        Instances so far.
    labels, features : int
        Labels seen, and the width of the matrices.
    nodes, depth : int
        Of the tree.
    seconds, us : float
        Of the portion, and for an instance.
    updates : float
        Node classifiers that an instance trains, on average, in the tree as it stands now.
    ns : float
        For each of them and each non-zero.
    model_bytes : int
    """

    end: int
    labels: int
    features: int
    nodes: int
    depth: int
    seconds: float
    us: float
    updates: float
    ns: float
    model_bytes: int


@dataclass(frozen=True)
class Prefix:
    """The beginning of the stream, learned as it came and with the tree as it stands known before.

    Attributes
    ----------
    end : int
        Instances so far.
    seconds, model_bytes : float, int
        Of all that the model learned.
    known_seconds, known_bytes : float, int
        Of the same code on the known tree.
    known_differing : list of str
        Node weights that are not the same bits.
    node_seconds, node_bytes, node_differing : float, int, list of str
        Of `PLT`'s training node by node, which reads the whole prefix at once.
    """

    end: int
    seconds: float
    model_bytes: int
    known_seconds: float
    known_bytes: int
    known_differing: list[str]
    node_seconds: float
    node_bytes: int
    node_differing: list[str]


@dataclass(frozen=True)
class Stream:
    """What `measure_stream` measured.

    Attributes
    ----------
    instances : int
    hyperparameters : dict
        Of `OPLT`.
    portions : list of Portion
    differing : list of str
        Arrays of the saved and resumed model that are not the same bits as those of the one that went on.
    prefixes : list of Prefix
    peak_bytes : int
        Of the process.
    passport : Passport
    """

    instances: int
    hyperparameters: Hyperparameters
    portions: list[Portion]
    differing: list[str]
    prefixes: list[Prefix]
    peak_bytes: int
    passport: Passport


def measure_stream(instances: int = 1_000_000, portions: int = 10, **hyperparameters: object) -> Stream:
    """Learn a growing stream, portion by portion, with a copy from the middle on and training anew at the end of some.

    Parameters
    ----------
    instances : int
    portions : int
        Of about equal size, which are measured.
    **hyperparameters
        Of `OPLT`.
    """
    stream = GrowingStream(instances)
    _rehearse(stream, hyperparameters)
    model, resumed = OPLT(n_jobs=1).set_params(**hyperparameters), None
    measured: list[Portion] = []
    prefixes: list[Prefix] = []
    ends = [instances * (i + 1) // portions for i in range(portions)]
    anew = {ends[int(np.argmin([abs(end - share * instances) for end in ends]))] for share in PREFIXES}
    for start, end in zip([0, *ends[:-1]], ends):
        parts, seconds = _learn(model, resumed, stream.batches(start, end))
        measured.append(_portion(model, parts, end, seconds))
        if 2 * start < instances <= 2 * end:
            resumed = _saved_and_loaded(model)
        if end in anew:
            prefixes.append(_anew(model, stream, end, sum(portion.seconds for portion in measured)))
    return Stream(
        instances=instances,
        hyperparameters=hyperparameters,
        portions=measured,
        differing=[] if resumed is None else differing(_learned(model), _learned(resumed)),
        prefixes=prefixes,
        peak_bytes=peak_bytes(),
        passport=passport(1),
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


def _portion(model: OPLT, parts: list[Batch], end: int, seconds: float) -> Portion:
    """Say what a portion of the stream cost."""
    X, Y = together(parts)
    tree, labels = model.tree_, model.labels_
    n = X.shape[0]
    reach = reach_of(kernel_csr(Y[:, labels]), tree, np.arange(n))
    positives = np.diff(reach.node_starts)
    updates = n + int(positives @ np.diff(tree.children))
    return Portion(
        end=end,
        labels=labels.size,
        features=model.n_features_in_,
        nodes=tree.n_nodes,
        depth=int(tree.depth.max()),
        seconds=seconds,
        us=1e6 * seconds / n,
        updates=updates / n,
        ns=1e9 * seconds / (updates * X.nnz / n),
        model_bytes=_array_bytes(model._state()[0]),
    )


def _anew(model: OPLT, stream: GrowingStream, end: int, seconds: float) -> Prefix:
    """Train the tree as it stands on the stream so far, as if it had been known (Definitions 1 and 2)."""
    X, Y = together(list(stream.batches(0, end)))
    grown = model.to_plt().nodes_._asdict()
    known = _KnownTree().set_params(**model.get_params()).knowing(model.tree_, model.labels_)
    _, known_seconds = _cpu_timed(lambda: known.partial_fit(X, Y))
    nodes, node_seconds = _cpu_timed(lambda: _node_by_node(model, X, Y))
    return Prefix(
        end=end,
        seconds=seconds,
        model_bytes=_array_bytes(model._state()[0]),
        known_seconds=known_seconds,
        known_bytes=_array_bytes(known._state()[0]),
        known_differing=differing(grown, known.to_plt().nodes_._asdict()),
        node_seconds=node_seconds,
        node_bytes=_array_bytes(nodes._asdict()),
        node_differing=differing(grown, nodes._asdict()),
    )


def _node_by_node(model: OPLT, X: sparse.csr_array, Y: sparse.csr_array) -> NodeWeights | CompactNodeWeights:
    """Train the model's tree as `PLT` does with AdaGrad."""
    x, y = kernel_csr(unit_rows(X) if model.unit_norm else X), kernel_csr(Y[:, model.labels_])
    solver = AdaGrad(float(model.gamma), float(model.eps), 1)
    return train_nodes(x, y, X.shape[1], model.tree_, np.arange(X.shape[0]), solver, None, 1)


def _rehearse(stream: GrowingStream, hyperparameters: Hyperparameters) -> None:
    """Do all that will be measured once, on few instances, so that every kernel is compiled."""
    X, Y = stream.draw(0, max(WARM_UP_ROWS, 64))
    model = OPLT(n_jobs=1).set_params(**hyperparameters).partial_fit(X, Y)
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


def _cpu_timed(work: Callable[[], T]) -> tuple[T, float]:
    """Call ``work`` and return its result and the processor seconds it took."""
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def _array_bytes(arrays: Mapping[str, np.ndarray]) -> int:
    return sum(array.nbytes for array in arrays.values())
