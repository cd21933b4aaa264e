"""How fast a PLT is trained and asked, beside napkinXC and omikuji, and what a second thread gives.

One process, one task at a time, rounds that take turns; the best round of each counts, because a machine can be
disturbed but not hurried. Everything of ours is run once before, at full size, so that no kernel is compiled in a
measured time; the data is in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.bench.answers import differing, precisions
from xmlc.bench.plt.cost import TRAINING, access_limits, pass_seconds, phases, prediction_pairs, training_pairs
from xmlc.data.prepared import Prepared
from xmlc.data.writer import save_repository
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.plt import PLT
from xmlc.passport import WARM_UP_ROWS, in_turns, passport, peak_bytes, timed
from xmlc.runtime.threads import numba_threads

K = 5
SEARCHES = {"exact": None, "beam 10": 10}
ASKED_ONE_BY_ONE = 2000  # instances, at most
AT_LEAST = 0.3  # seconds of asking per round: a small test set is asked in a few milliseconds
ADAGRAD: dict[str, Any] = {"solver": "adagrad", "arity": 16, "tree": "random", "gamma": 1.0, "epochs": 3}
# Chosen on the validation part of the 80/20 split, see config/papers/plt2016.yaml.
_BATCH = {"solver": "batch", "tree": "kmeans", "epochs": 30, "weight_cut": 0.05}
_HINGE = {"loss": "squared_hinge", "hinge_power": 3, "C": 1.0, "tol": 0.03, "beam": 10}
BATCH: dict[str, dict[str, Any]] = {
    "tib-core-26k": _BATCH | _HINGE | {"arity": 16, "max_leaf": 110},
    "delicious": _BATCH | {"loss": "logistic", "C": 2.0, "tol": 0.05, "arity": 4, "max_leaf": 250},
}
LIKE = "delicious"  # the settings of a dataset without settings of its own
NAPKINXC_ADAGRAD, NAPKINXC_LIBLINEAR, OMIKUJI = "napkinXC, AdaGrad", "napkinXC, liblinear", "omikuji, one tree"
OMIKUJI_DENSE = "omikuji, one tree, densified"
PEERS_OF = {"adagrad": (NAPKINXC_ADAGRAD,), "batch": (OMIKUJI, NAPKINXC_LIBLINEAR)}


Ours = dict[tuple[str, int], PLT]  # by solver and number of threads
Others = dict[str, SparseProbabilityEstimator]


@dataclass(frozen=True)
class Data:
    """A dataset in memory: instances and label sets to train on and to test on."""

    name: str
    X: sparse.csr_array
    Y: sparse.csr_array
    X_test: sparse.csr_array
    Y_test: sparse.csr_array


def compare_plt(data: Path, peers: bool = True, threads: int = 2, rounds: int = 3) -> dict[str, Any]:
    """Measure training and prediction on one and on several threads, beside the peers, and where the time goes.

    Parameters
    ----------
    data : Path
        Folder written by `xmlc prepare`.
    peers : bool
        Whether to run napkinXC and omikuji too.
    threads : int
        Compared with one thread.
    rounds : int
        How often everything is measured.

    Returns
    -------
    dict
        ``dataset``, ``shape`` (n, d, m), ``rounds``, ``threads``; ``settings`` of our solvers; ``training`` by
        contender (``seconds`` of the rounds, ``p@k``), ``prediction`` by question (``ms`` per instance of the rounds,
        ``p@k``); ``conversion`` of omikuji's input; ``ratios`` of best times; ``threads_of`` each solver: speed-ups,
        and which arrays of the model and of its predictions are not the same bits; ``latency`` in ms; ``cost`` of each
        solver (`cost_of`); ``peak_bytes``; ``passport``.

    Raises
    ------
    XmlcError
        The folder holds no dataset, or a peer is not installed.
    """
    prepared = Prepared(data)
    content = Data(prepared.meta["name"], *prepared.part("train"), *prepared.part("test"))
    settings = {"adagrad": ADAGRAD, "batch": BATCH.get(content.name, BATCH[LIKE])}
    ours = {(solver, n): PLT(**values, n_jobs=n) for solver, values in settings.items() for n in (1, threads)}
    for model in ours.values():
        _rehearse(model, content)
    others = _peers() if peers else {}
    training = _training(ours, others, content, rounds)
    prediction, answers = _prediction(ours, others, content, rounds)
    result: dict[str, Any] = {
        "dataset": content.name,
        "shape": [*content.X.shape, content.Y.shape[1]],
        "rounds": rounds,
        "threads": threads,
        "settings": settings,
        "training": training,
        "prediction": prediction,
        "ratios": _ratios(training, prediction) if peers else {},
        "conversion": _conversion(content) if peers else {},
        "threads_of": {solver: _speed_up(solver, threads, ours, training, prediction, answers) for solver in settings},
        "latency": {solver: _latencies(ours[solver, 1], content.X_test) for solver in settings},
    }
    result["cost"] = {solver: cost_of(ours[solver, 1], content, prediction, rounds) for solver in settings}
    return result | {"peak_bytes": peak_bytes(), "passport": passport(threads)}


def name_of(solver: str, n_jobs: int, search: str = "") -> str:
    """Name one of our models, and with the way of searching, see `SEARCHES`, a question to it."""
    return f"PLT, {solver}{', ' * bool(search)}{search}, {n_jobs} thread{'s' * (n_jobs > 1)}"


def best(measured: dict[str, Any]) -> float:
    """Return the seconds, or the milliseconds, of the best round."""
    return min(measured.get("seconds") or measured["ms"])


def _rehearse(model: PLT, data: Data) -> None:
    """Do all that will be measured once: which kernels run depends on the size of a dataset."""
    model.fit(data.X, data.Y)
    for beam in SEARCHES.values():
        _ask(model, data, beam=beam)()


def _peers() -> dict[str, SparseProbabilityEstimator]:
    from xmlc.models.peers.napkinxc import NapkinXCPLT
    from xmlc.models.peers.omikuji import OmikujiParabel

    same = {"arity": ADAGRAD["arity"], "tree_type": "completeKaryRandom", "epochs": ADAGRAD["epochs"]}
    kmeans: dict[str, Any] = {"arity": 2, "tree_type": "hierarchicalKmeans"}
    return {
        NAPKINXC_ADAGRAD: NapkinXCPLT(optimizer="adagrad", eta=ADAGRAD["gamma"], n_jobs=1, **same),
        OMIKUJI: OmikujiParabel(n_trees=1, n_jobs=1),
        NAPKINXC_LIBLINEAR: NapkinXCPLT(optimizer="liblinear", n_jobs=1, **kmeans),
    }


def _training(ours: Ours, others: Others, data: Data, rounds: int) -> dict[str, Any]:
    """Train all models; rank with each as its own hyperparameters say."""
    models = {name_of(*key): model for key, model in ours.items()} | others
    seconds, _ = in_turns({name: _fit(model, data) for name, model in models.items()}, rounds)
    return {
        name: {"seconds": seconds[name], "p@k": precisions(data.Y_test, _ask(model, data)()[0])}
        for name, model in models.items()
    }


def _prediction(ours: Ours, others: Others, data: Data, rounds: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Ask all models for the best labels of all test instances, ours exactly and by beam search."""
    tasks = {
        name_of(solver, n, search): _ask(ours[solver, n], data, beam=beam)
        for (solver, n), (search, beam) in product(ours, SEARCHES.items())
    }
    with tempfile.TemporaryDirectory(prefix="omikuji-") as folder:
        for name, model in others.items():
            tasks[name] = _ask(model, data)
            if name == OMIKUJI:  # loading is what makes weights dense
                model.save(Path(folder) / "model")
                tasks[OMIKUJI_DENSE] = _ask(type(model).load(Path(folder) / "model"), data)
        seconds, answers = in_turns(tasks, rounds, AT_LEAST)
    per_instance = 1e3 / data.X_test.shape[0]
    prediction = {
        name: {"ms": [per_instance * turn for turn in seconds[name]], "p@k": precisions(data.Y_test, labels)}
        for name, (labels, _) in answers.items()
    }
    return prediction, answers


def _fit(model: Any, data: Data) -> Callable[[], Any]:
    def work() -> None:
        with numba_threads(model.n_jobs):
            model.fit(data.X, data.Y)

    return work


def _ask(model: SparseProbabilityEstimator, data: Data, **hyperparameters: Any) -> Callable[[], Any]:
    return lambda: _with(model, **hyperparameters).predict_top_k(data.X_test, K)


def _with(model: SparseProbabilityEstimator, **hyperparameters: Any) -> Any:
    """Return a model that has learned the same, with other hyperparameters."""
    return copy(model).set_params(**hyperparameters) if hyperparameters else model


def _conversion(data: Data) -> dict[str, float]:
    """Measure what of omikuji's times is not its own: writing its input, and turning instances into its types."""
    with tempfile.TemporaryDirectory(prefix="omikuji-") as folder:
        _, written = timed(lambda: save_repository(Path(folder) / "train.txt", data.X, data.Y))
    x = data.X_test

    def pairs() -> None:
        for start, end in pairwise(x.indptr):
            list(zip(x.indices[start:end].tolist(), x.data[start:end].tolist()))

    return {"train_seconds": written, "predict_ms": 1e3 * timed(pairs)[1] / x.shape[0]}


def _ratios(training: dict[str, Any], prediction: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Divide our best times on one thread by those of each peer."""
    result: dict[str, dict[str, float]] = {"training": {}, "prediction": {}}
    for solver, peers in PEERS_OF.items():
        own = name_of(solver, 1)
        for peer in peers:
            result["training"][f"{own} / {peer}"] = best(training[own]) / best(training[peer])
        for search, peer in product(SEARCHES, peers + (OMIKUJI_DENSE,) * (OMIKUJI in peers)):
            own = name_of(solver, 1, search)
            result["prediction"][f"{own} / {peer}"] = best(prediction[own]) / best(prediction[peer])
    return result


def _speed_up(
    solver: str, threads: int, ours: Ours, training: dict[str, Any], prediction: dict[str, Any], answers: dict[str, Any]
) -> dict[str, Any]:
    """Compare one thread with several: times, and the bits of the models and of their answers."""
    one, several = (ours[solver, n] for n in (1, threads))
    result: dict[str, Any] = {
        "training": best(training[name_of(solver, 1)]) / best(training[name_of(solver, threads)]),
        "differing_arrays": differing(learned(one), learned(several)),
    }
    for search in SEARCHES:
        names = [name_of(solver, n, search) for n in (1, threads)]
        result[search] = best(prediction[names[0]]) / best(prediction[names[1]])
        first, second = (dict(zip(("labels", "scores"), answers[name])) for name in names)
        result["differing_arrays"] += [f"{array}, {search}" for array in differing(first, second)]
    return result


def learned(model: PLT) -> dict[str, np.ndarray]:
    """Return all arrays that a PLT has learned."""
    return {"parent": model.tree_.parent, **model.nodes_._asdict()}


def _latencies(model: PLT, X: sparse.csr_array) -> dict[str, dict[str, float]]:
    return {search: latency(_with(model, beam=beam), X) for search, beam in SEARCHES.items()}


def latency(model: PLT, X: sparse.csr_array) -> dict[str, float]:
    """Ask for the best labels of instances one by one, from Python; milliseconds, median and 99th percentile."""
    instances = [(X.indices[start:end], X.data[start:end]) for start, end in pairwise(X.indptr[: ASKED_ONE_BY_ONE + 1])]
    for instance in instances[:WARM_UP_ROWS]:
        model.rank_one(*instance, K)
    turns = [timed(partial(model.rank_one, *instance, K))[1] for instance in instances]
    median, high = np.percentile(turns, (50, 99))
    return {"median_ms": 1e3 * float(median), "p99_ms": 1e3 * float(high)}


def cost_of(model: PLT, data: Data, prediction: dict[str, Any], rounds: int) -> dict[str, Any]:
    """Account for the time of a solver's training and prediction on one thread, beside the machine's limit.

    Returns
    -------
    dict
        ``pairs``: pairs (non-zero, node) of one pass over the training set; ``phases``: seconds of a fit by step;
        ``pass_seconds``, and ``beside_seconds``: what training of the nodes takes beside its passes; ``passes``: to how
        many the fit amounts, as "batch" stops early; ``train_ns`` per pair and pass; ``predict_pairs`` per instance and
        ``predict_ns`` per pair, by search; ``limits`` in nanoseconds per pair (`access_limits`).
    """
    with numba_threads(1):
        turns = [phases(model, data.X, data.Y) for _ in range(rounds)]
        fit = min(turns, key=lambda turn: sum(turn.values()))
        one, beside = pass_seconds(model, data.X, data.Y, rounds)
    pairs = training_pairs(data.X, data.Y, model.tree_)
    asked, ns = {}, {}
    for search, beam in SEARCHES.items():
        asking = _with(model, beam=beam)
        asking.predict_top_k(data.X_test, K)
        asked[search] = prediction_pairs(asking, data.X_test) / data.X_test.shape[0]
        ns[search] = 1e6 * best(prediction[name_of(model.solver, 1, search)]) / asked[search]
    return {
        "pairs": pairs,
        "phases": fit,
        "pass_seconds": one,
        "beside_seconds": beside,
        "passes": (fit[TRAINING] - beside) / one,
        "train_ns": 1e9 * one / pairs,
        "predict_pairs": asked,
        "predict_ns": ns,
        "limits": access_limits(data.X, data.Y, model.tree_, rounds),
    }
