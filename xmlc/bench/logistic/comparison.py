"""How fast BR and PCC are trained, beside scikit-learn's logistic regression as they were trained with before.

One process, tasks in turns, the best round of each. A task is all of training: C by cross-validation over the grid,
then one classifier for each label. Kernels are compiled and the data is in memory before anything is measured.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.bench.answers import differing
from xmlc.bench.logistic._streaming import read_non_zeros
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.float64_arrays import sigmoid_into
from xmlc.models.linear.binary_relevance import BinaryRelevance
from xmlc.models.linear.classifier_chain import ProbabilisticClassifierChain
from xmlc.models.linear.label_logistic import FOLD_STREAM, LabelLogistic
from xmlc.models.linear.regression import Problem, learnable, make_problem, scales, solve
from xmlc.passport import WARM_UP_ROWS, in_turns, passport, peak_bytes

ESTIMATORS: dict[str, type[LabelLogistic]] = {"br": BinaryRelevance, "pcc": ProbabilisticClassifierChain}
ASKED = 5.0  # times as fast as scikit-learn, at least
CLOSE = 1e-6  # of probabilities, at most
AT_LEAST = 0.1  # seconds of a short task per round
TOLERANCE, ROUGH_TOLERANCE, MAX_ITERATIONS = 1e-6, 1e-4, 5000  # of L-BFGS: for what was kept, and to choose C
TIGHT = 1e-12
PEER = "scikit-learn"


def compare_logistic(data: Path, estimator: str = "br", threads: int = 2, rounds: int = 1) -> dict[str, Any]:
    """Measure training on one and on several threads, beside scikit-learn, and how close the solutions are.

    Parameters
    ----------
    data : Path
        Folder written by `xmlc prepare`.
    estimator : {"br", "pcc"}
    threads : int
        Compared with one thread. scikit-learn has one: its solver holds the interpreter's lock most of the time.
    rounds : int

    Returns
    -------
    dict
        ``dataset``, ``shape`` (training instances, d, m), ``estimator``, ``threads``, ``rounds``; ``seconds`` and
        ``cpu_seconds`` by task, of the rounds; ``ratio`` of best times, scikit-learn's to ours on several threads;
        ``C``, and ``same_C`` whether scikit-learn's losses choose it too; ``differing_arrays`` on several threads;
        ``difference``: the largest of probabilities on the test set, to scikit-learn's solver newton-cg with tolerance
        1e-12 and the same C; ``decrement``: the largest of the model's; ``limit`` (`streaming_limit`); ``peak_bytes``;
        ``passport``.

    Raises
    ------
    XmlcError
        The folder holds no dataset, or scikit-learn is not installed.
    """
    _require_peer()
    prepared = Prepared(data)
    (X, Y), (X_test, Y_test) = prepared.part("train"), prepared.part("test")
    kind = ESTIMATORS[estimator]
    kind(n_jobs=1).fit(X[: 4 * WARM_UP_ROWS], Y[: 4 * WARM_UP_ROWS])
    names = ours_on(1), ours_on(threads)
    tasks: dict[str, Callable[[], Any]] = {
        names[0]: lambda: kind(n_jobs=1).fit(X, Y),
        names[1]: lambda: kind(n_jobs=threads).fit(X, Y),
        PEER: lambda: fit_with_peer(kind(), X, Y),
    }
    cpu_seconds: dict[str, list[float]] = {name: [] for name in tasks}
    counted = {name: _counting_cpu(task, cpu_seconds[name]) for name, task in tasks.items()}
    seconds, found = in_turns(counted, rounds)
    model: Any = found[names[0]]
    C = float(np.nanmax(model.C_, initial=0.0))
    return {
        "dataset": prepared.meta["name"],
        "shape": [*X.shape, Y.shape[1]],
        "estimator": estimator,
        "threads": threads,
        "rounds": rounds,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "ratio": min(seconds[PEER]) / min(seconds[names[1]]),
        "C": C,
        "same_C": bool(found[PEER] == C),
        "differing_arrays": differing(_arrays(model), _arrays(found[names[1]])),
        "difference": largest_difference(model, X, Y, X_test, Y_test),
        "decrement": float(np.nanmax(model.decrements_, initial=0.0)),
        "limit": streaming_limit(make_problem(X, Y, True, 1.0, np.full(Y.shape[1], X.shape[1])), model, rounds),
        "peak_bytes": peak_bytes(),
        "passport": passport(threads),
    }


def _counting_cpu(task: Callable[[], Any], spent: list[float]) -> Callable[[], Any]:
    """Return the task such that it notes the CPU seconds of all threads, which others on the machine hardly change."""

    def run() -> Any:
        start = time.process_time()
        result = task()
        spent.append(time.process_time() - start)
        return result

    return run


def ours_on(threads: int) -> str:
    """Name the task of training on so many threads."""
    return f"xmlc, {threads} thread{'s' * (threads > 1)}"


def _require_peer() -> None:
    try:
        import sklearn.linear_model  # noqa: F401
        import threadpoolctl  # noqa: F401
    except ImportError as error:
        raise XmlcError("scikit-learn is not installed; install the extra: pip install 'xmlc[peers]'") from error


def _arrays(model: Any) -> dict[str, np.ndarray]:
    return {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}


def _inputs(X: sparse.csr_array, Y: sparse.csr_array, j: int, chain: bool) -> sparse.csr_array:
    """Return what label j's classifier sees, unscaled."""
    if not chain:
        return X
    return sparse.csr_array(sparse.hstack([X, sparse.csr_array(Y[:, :j])], format="csr"))


def fit_with_peer(model: LabelLogistic, X: sparse.csr_array, Y: sparse.csr_array) -> float:
    """Train as before this package had a solver: label after label, each scaled and cut into folds by itself.

    Parameters
    ----------
    model : LabelLogistic
        Its hyperparameters are taken; one C for all labels.
    X : CSR, shape (n, d)
    Y : boolean CSR, shape (n, m)

    Returns
    -------
    float
        The C that was chosen.
    """
    from threadpoolctl import threadpool_limits

    chain, grid = isinstance(model, ProbabilisticClassifierChain), list(model.C_grid)
    X, labels = sparse.csr_array(X.astype(np.float64)), Y.astype(np.float64)
    fold_of = random_permutation(X.shape[0], model.random_state, FOLD_STREAM) % model.folds
    total = np.zeros(len(grid))
    # On vectors this short BLAS's own threads take five times as long as one.
    with threadpool_limits(limits=1, user_api="blas"):
        for j in range(Y.shape[1]):
            Z = _inputs(X, labels, j, chain)
            Z, y = sparse.csr_array(Z * scales(Z)), Y[:, [j]].toarray().ravel()
            losses = []
            for fold in range(model.folds):
                inside = fold_of != fold
                if 0 < y[inside].sum() < inside.sum() and not inside.all():
                    losses.append(_path_losses(Z[inside], y[inside], Z[~inside], y[~inside], grid))
            total += np.mean(losses, axis=0) if losses else 0.0
        C = float(grid[int(total.argmin())])
        for j in range(Y.shape[1]):
            Z = _inputs(X, labels, j, chain)
            Z, y = sparse.csr_array(Z * scales(Z)), Y[:, [j]].toarray().ravel()
            if 0 < y.sum() < y.size:
                _peer(C, TOLERANCE).fit(Z, y)
    return C


def _peer(C: float, tol: float, **options: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=C, tol=tol, max_iter=MAX_ITERATIONS, **options)


def _path_losses(X: Any, y: np.ndarray, X_held_out: Any, y_held_out: np.ndarray, grid: list[float]) -> list[float]:
    """Return the mean log loss on held-out instances for each C, each fit starting from the one before."""
    from sklearn.exceptions import ConvergenceWarning

    model, losses = _peer(grid[0], ROUGH_TOLERANCE, warm_start=True), []
    for C in grid:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(C=C).fit(X, y)
        estimates = np.clip(model.predict_proba(X_held_out)[:, 1], 1e-12, 1 - 1e-12)
        losses.append(float(-np.log(np.where(y_held_out, estimates, 1 - estimates)).mean()))
    return losses


def largest_difference(
    model: Any, X: sparse.csr_array, Y: sparse.csr_array, X_test: sparse.csr_array, Y_test: sparse.csr_array
) -> float:
    """Return the largest difference of P(Y_j = 1 | x, earlier labels of the test set) to scikit-learn's tight fit."""
    chain, largest = isinstance(model, ProbabilisticClassifierChain), 0.0
    X, X_test = sparse.csr_array(X.astype(np.float64)), sparse.csr_array(X_test.astype(np.float64))
    Y_numbers, Y_numbers_test = Y.astype(np.float64), Y_test.astype(np.float64)
    for j in np.flatnonzero(~np.isnan(model.C_)).tolist():
        Z, Z_test = _inputs(X, Y_numbers, j, chain), _inputs(X_test, Y_numbers_test, j, chain)
        weights = model.weights_[j].astype(np.float64)
        if chain:
            weights = np.concatenate([weights, model.influence_[:j, j]])
        scores, ours = Z_test @ weights + float(model.constants_[j]), np.empty(Z_test.shape[0])
        sigmoid_into(scores, ours)
        scale = scales(Z)
        tight = _peer(float(model.C_[j]), TIGHT, solver="newton-cg")
        tight.fit(sparse.csr_array(Z * scale), Y[:, [j]].toarray().ravel())
        theirs = tight.predict_proba(sparse.csr_array(Z_test * scale))[:, 1]
        largest = max(largest, float(np.abs(ours - theirs).max(initial=0.0)))
    return largest


def streaming_limit(problem: Problem, model: LabelLogistic, rounds: int) -> dict[str, float]:
    """Measure what a non-zero costs the solver, on one thread, and what it costs to be read at all.

    Parameters
    ----------
    problem : Problem
        Of BR, on all training instances.
    model : LabelLogistic
        Whose path of C is gone through.
    rounds : int

    Returns
    -------
    dict
        ``passes`` over the matrix that all labels together need; ``ns`` of the solver per non-zero and pass, for two
        products with each of eight labels; ``read_ns`` of a kernel that reads indices and values.
    """
    labels = learnable(problem, np.ones(problem.n_instances, dtype=bool))
    grid = np.tile(np.asarray(model.C_grid, dtype=np.float64), (labels.size, 1))
    _, indices, values = problem.rows
    tasks: Mapping[str, Callable[[], Any]] = {
        "solve": lambda: solve(problem, labels, grid, np.arange(problem.n_instances)),
        "read": lambda: read_non_zeros(indices, values),
    }
    tasks["read"]()
    seconds, found = in_turns(tasks, rounds, AT_LEAST)
    passes = found["solve"].passes
    size = max(values.size, 1)
    ns = 1e9 * min(seconds["solve"]) / (max(passes, 1) * size)
    return {"passes": passes, "ns": ns, "read_ns": 1e9 * min(seconds["read"]) / size}


def to_text(result: dict[str, Any]) -> str:
    """Return everything that was measured, as lines and a table in Markdown."""
    n, d, m = result["shape"]
    machine, limit, best = result["passport"], result["limit"], {k: min(v) for k, v in result["seconds"].items()}
    speed_up = best[ours_on(1)] / best[ours_on(result["threads"])]
    cpu = {name: min(spent) for name, spent in result["cpu_seconds"].items()}
    rows = [
        f"| {name} | {best[name]:.2f} | {best[PEER] / best[name]:.1f} | {cpu[name]:.2f} | {cpu[PEER] / cpu[name]:.1f} |"
        for name in best
    ]
    same = "the same bits" if not result["differing_arrays"] else f"other bits: {', '.join(result['differing_arrays'])}"
    C = f"C = {result['C']:g}, {'as' if result['same_C'] else 'unlike'} by {PEER}'s losses"
    claims = [
        (f"times as fast as {PEER}", f"at least {ASKED:g}", f"{result['ratio']:.1f}", result["ratio"] >= ASKED),
        ("largest difference of probabilities", f"at most {CLOSE:g}", f"{result['difference']:.1e}",
         result["difference"] <= CLOSE),
        ("same bits on several threads", "yes", "", not result["differing_arrays"]),
    ]  # fmt: skip
    return "\n".join(
        [
            f"{result['dataset']}, {result['estimator']}: {n} training instances, {d} features, {m} labels; C by "
            f"cross-validation, then all labels; best of {result['rounds']} rounds in turns; {machine['cpu']}, "
            f"xmlc {machine['xmlc']}, numba {machine['numba']}, {machine['time']}; peak of the process "
            f"{result['peak_bytes'] / 1e6:.0f} MB",
            "",
            f"| training | seconds | {PEER}'s / these | CPU seconds | {PEER}'s / these |",
            "|:---|---:|---:|---:|---:|",
            *rows,
            "",
            f"{PEER}: L-BFGS with tolerance {ROUGH_TOLERANCE:g} for the choice of C and {TOLERANCE:g} after it, one "
            f"thread, as it was used before. {result['threads']} threads: {speed_up:.2f} times as fast as one, "
            f"{same}.",
            f"{C}. Largest squared Newton decrement relative to the objective: {result['decrement']:.1e}.",
            f"BR's path of C on all instances takes {limit['passes']} passes over the matrix. A non-zero takes "
            f"{limit['ns']:.2f} ns in a pass, for both products with eight labels; only to read it takes "
            f"{limit['read_ns']:.2f} ns.",
            "",
            "| | asked | measured | reached |",
            "|:---|:---|:---|:---|",
            *(f"| {what} | {asked} | {measured} | {'yes' if ok else 'no'} |" for what, asked, measured, ok in claims),
        ]
    )
