"""One program, trained and measured in a fresh process.

`benchmarks.programs` runs this file as a script, which imports each program only when it is used,
because the environments of PECOS and LibMultiLabel lack xmlc.
"""

from __future__ import annotations

import json
import pickle
import signal
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit

# TOP labels in rankings whose time is measured, LONG in rankings for label sets
TOP = 5
LONG = 100
# After a warm-up on WARM_UP rows, each of ROUNDS rounds has a batch of TIMED rows and REQUESTS
# single rows
WARM_UP = 300
TIMED = 2000
REQUESTS = 200
ROUNDS = 3
BATCH = 256  # rows that LibMultiLabel's command predicts at a time
# Labels from which LibMultiLabel trains a tree, because one-vs-rest needs 23 GB on tib-core-26k
TREE_FROM = 10_000
SLOPE = 3  # LibMultiLabel's trees estimate a probability as sigmoid(3 * decision value)
# Labels and their scores, best first, with label -1 in empty places
Ranking = tuple[np.ndarray, np.ndarray]


class Estimator:
    """An estimator with xmlc's interface, with default settings on one thread."""

    # The program's package, whose version is recorded. Without it, xmlc records its commit.
    distribution = ""
    n_requests = REQUESTS

    def __init__(self, name: str, **values: Any):
        module, _, attribute = name.partition(":")
        self.make = attrgetter(attribute)(import_module(module))
        self.values = values

    def fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        """Train a model."""
        self.model = self.make(n_jobs=1, **self.values).fit(X, Y)

    def store(self, folder: Path) -> None:
        """Save the model and load it again, as a server would."""
        self.model.save(folder)
        self.model = type(self.model).load(folder).set_params(n_jobs=1)

    def rank(self, X: sparse.csr_array, k: int) -> Ranking:
        """Return at most k labels of each instance, best first, and their scores."""
        return self.model.predict_top_k(X, k)

    def sets(self, X: sparse.csr_array) -> sparse.csr_array | None:
        """Return the predicted label sets, or None if the program only ranks."""
        if self.distribution:
            return None
        return self.model.predict(X)

    def request(self, x: sparse.csr_array) -> Any:
        """Convert one instance to the argument of `one`."""
        return x.indices, x.data

    def one(self, request: Any) -> object:
        """Rank the labels of a converted instance."""
        return self.model.rank_one(*request, TOP)


class _Omikuji(Estimator):
    distribution = "omikuji"

    def request(self, x: sparse.csr_array) -> Any:
        return list(zip(x.indices.tolist(), x.data.tolist()))

    def one(self, request: Any) -> object:
        return self.model.model_.predict(request, self.model.beam_size, TOP)


class _NapkinXC(Estimator):
    distribution = "napkinxc"

    def request(self, x: sparse.csr_array) -> Any:
        return sparse.csr_matrix(x)

    def one(self, request: Any) -> object:
        return self.model.model_.predict_proba(request, top_k=TOP)


class _Pecos(Estimator):
    """XR-Linear as in the documentation of PECOS."""

    distribution = "libpecos"

    def __init__(self) -> None:
        self.xmc = import_module("pecos.xmc")
        self.program = import_module("pecos.xmc.xlinear.model").XLinearModel

    def fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        rows = self.request(X)
        labels = sparse.csc_matrix(Y, dtype=np.float32)
        embedded = self.xmc.LabelEmbeddingFactory.create(labels, rows, method="pifa", threads=1)
        clusters = self.xmc.Indexer.gen(embedded, indexer_type="hierarchicalkmeans", threads=1)
        self.model = self.program.train(rows, labels, C=clusters, threads=1)

    def store(self, folder: Path) -> None:
        self.model.save(str(folder))
        self.model = self.program.load(str(folder), is_predict_only=True)

    def rank(self, X: sparse.csr_array, k: int) -> Ranking:
        found = self.model.predict(self.request(X), only_topk=k, threads=1)
        labels = np.full((X.shape[0], k), -1)
        scores = np.zeros((X.shape[0], k))
        for row, (start, end) in enumerate(zip(found.indptr[:-1], found.indptr[1:])):
            order = start + np.argsort(-found.data[start:end], kind="stable")
            labels[row, : end - start] = found.indices[order]
            scores[row, : end - start] = found.data[order]
        return labels, scores

    def request(self, x: sparse.csr_array) -> Any:
        return sparse.csr_matrix(x, dtype=np.float32)

    def one(self, request: Any) -> object:
        return self.model.predict(request, only_topk=TOP, threads=1)


class _LibMultiLabel(Estimator):
    """LibMultiLabel's one-vs-rest, or its tree for many labels, which only ranks."""

    distribution = "libmultilabel"

    def __init__(self) -> None:
        # LibMultiLabel's trainer starts a thread for each core
        one = {"cpu_count": lambda logical=True: 1}
        vars(import_module("psutil")).update(one)
        self.linear = import_module("libmultilabel.linear")

    def fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        np.random.seed(0)  # noqa: NPY002  LibMultiLabel's k-means uses NumPy's global generator.
        self.tree = Y.shape[1] >= TREE_FROM
        self.numbers = np.arange(Y.shape[1])
        if self.tree:
            train = self.linear.train_tree
        else:
            train = self.linear.train_1vsrest
        self.model = train(sparse.csr_matrix(Y, dtype=np.float64), self.request(X), verbose=False)

    def store(self, folder: Path) -> None:
        file = folder / "model.pickle"
        file.write_bytes(pickle.dumps(self.model, protocol=pickle.HIGHEST_PROTOCOL))
        # Safe, because this process has just written the file
        self.model = pickle.loads(file.read_bytes())

    def rank(self, X: sparse.csr_array, k: int) -> Ranking:
        k = min(k, self.numbers.size)
        parts = (X[start : start + BATCH] for start in range(0, X.shape[0], BATCH))
        labels, scores = map(
            np.concatenate, zip(*(self.one(self.request(part), k) for part in parts))
        )
        return np.where(
            scores > 0, labels, -1
        ) if self.tree else labels, scores if self.tree else expit(SLOPE * scores)

    def sets(self, X: sparse.csr_array) -> sparse.csr_array | None:
        if self.tree:
            values = None
        else:
            values = self.linear.predict_values(self.model, self.request(X))
        if values is None:
            return None
        return sparse.csr_array(values > 0)

    def request(self, x: sparse.csr_array) -> Any:
        return sparse.csr_matrix(x, dtype=np.float64)

    def one(self, request: Any, k: int = TOP) -> Ranking:
        return self.linear.get_topk_labels(
            self.linear.predict_values(self.model, request), self.numbers, k
        )


class _OneVsRest(Estimator):
    """scikit-learn's one-vs-rest with one of its linear classifiers, all with default settings."""

    distribution = "scikit-learn"
    # scikit-learn calls each label's classifier, so a request for 10,000 labels takes seconds
    n_requests = 3

    def __init__(self, linear: str):
        module, _, attribute = linear.partition(":")
        self.linear = getattr(import_module(module), attribute)

    def fit(self, X: sparse.csr_array, Y: sparse.csr_array) -> None:
        one_vs_rest = import_module("sklearn.multiclass").OneVsRestClassifier
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a label of the warm-up may be in all rows or in none
            self.model = one_vs_rest(self.linear()).fit(
                self.request(X), sparse.csr_matrix(Y, dtype=np.int64)
            )

    def store(self, folder: Path) -> None:
        with open(folder / "model.pickle", "wb") as file:
            pickle.dump(self.model, file, protocol=pickle.HIGHEST_PROTOCOL)

    def rank(self, X: sparse.csr_array, k: int) -> Ranking:
        rankings = []
        for start in range(0, X.shape[0], BATCH):
            scores = self.model.decision_function(self.request(X[start : start + BATCH]))
            labels = np.argsort(-scores, axis=1, kind="stable")[:, :k]
            rankings.append((labels, expit(np.take_along_axis(scores, labels, axis=1))))
        all_labels, all_scores = zip(*rankings)
        return np.concatenate(all_labels), np.concatenate(all_scores)

    def sets(self, X: sparse.csr_array) -> sparse.csr_array | None:
        parts = [X[start : start + BATCH] for start in range(0, X.shape[0], BATCH)]
        return sparse.vstack([self.model.predict(self.request(part)) for part in parts])

    def request(self, x: sparse.csr_array) -> Any:
        return sparse.csr_matrix(x, dtype=np.float64)

    def one(self, request: Any) -> object:
        return self.rank(request, TOP)


# napkinXC's defaults
NAPKINXC = {"optimizer": "liblinear", "tree_type": "hierarchicalKmeans", "arity": 2}
XMLC = {
    name: name
    for name in ("PLT", "PLT.for_ranking", "Parabel", "SWNN", "Stacking", "OPLT", "FastXML", "LdSM")
}
XMLC["SWNN"] = "SparseWeightedNearestNeighbors"
PROGRAMS: dict[str, Callable[[], Estimator]] = {
    **{name: partial(Estimator, f"xmlc.models:{path}") for name, path in XMLC.items()},
    "omikuji": partial(_Omikuji, "benchmarks.baselines.omikuji_parabel:OmikujiParabel"),
    "napkinXC": partial(_NapkinXC, "benchmarks.baselines.napkinxc_trees:NapkinXCPLT", **NAPKINXC),
    "PECOS": _Pecos,
    "LibMultiLabel": _LibMultiLabel,
}
ONE_VS_REST: dict[str, Callable[[], Estimator]] = {
    "LinearSVC": partial(_OneVsRest, "sklearn.svm:LinearSVC"),
    "LogisticRegression": partial(_OneVsRest, "sklearn.linear_model:LogisticRegression"),
}


def megabytes(field: str) -> float:
    """Return MB of this process, such as VmRSS (present) or VmHWM (peak)."""
    (line,) = (
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith(field)
    )
    return int(line.split()[1]) * 1024 / 1e6


def least(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the minimum CPU seconds of several calls."""
    turns = []
    for _ in range(rounds):
        start = time.process_time()
        call()
        turns.append(time.process_time() - start)
    return min(turns)


def trained_within(seconds: float, train: Callable[[], object]) -> bool:
    """Train until a limit of CPU seconds, and return whether it sufficed."""

    def stop(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGPROF, stop)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        train()
    except TimeoutError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return True


def measure(name: str, data: Path, out: Path, seconds: float = 0) -> None:
    """Train a program, save and load its model, and write its costs, ranking and label sets.

    Training stops after ``seconds`` of CPU time (unless 0), and then only the costs are written.
    """
    X, Y, X_test = (
        sparse.csr_array(sparse.load_npz(data / f"{part}.npz")) for part in ("X", "Y", "X_test")
    )
    program = (PROGRAMS | ONE_VS_REST)[name]()
    few = Y[:WARM_UP]
    # Compiles the kernels before any measurement
    program.fit(X[:WARM_UP], few[:, np.unique(few.indices)])
    program.rank(X[:WARM_UP], TOP)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak memory of this process
    before = megabytes("VmRSS")
    start = time.process_time()
    finished = trained_within(seconds, lambda: program.fit(X, Y))
    costs: dict[str, Any] = {"train_s": time.process_time() - start, "finished": finished}
    costs["peak_mb"] = megabytes("VmHWM") - before
    costs["program"] = ""
    if program.distribution:
        costs["program"] = f"{program.distribution} {version(program.distribution)}"
    if not finished:
        (out / "costs.json").write_text(json.dumps(costs))
        return
    (out / "model").mkdir()
    program.store(out / "model")
    costs["model_mb"] = (
        sum(file.stat().st_size for file in (out / "model").rglob("*") if file.is_file()) / 1e6
    )
    timed = X_test[:TIMED]
    costs["row_ms"] = 1e3 * least(lambda: program.rank(timed, TOP)) / timed.shape[0]
    requests = [
        program.request(timed[row : row + 1])
        for row in range(min(program.n_requests, timed.shape[0]))
    ]
    costs["request_ms"] = (
        1e3 * least(lambda: [program.one(request) for request in requests]) / len(requests)
    )
    labels, scores = program.rank(X_test, LONG)
    np.savez(out / "ranking.npz", labels=labels, scores=scores)
    sets = program.sets(X_test)
    if sets is not None:
        sparse.save_npz(out / "sets.npz", sparse.csr_matrix(sets))
    (out / "costs.json").write_text(json.dumps(costs))


if __name__ == "__main__":
    measure(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]))
