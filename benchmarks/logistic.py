"""How fast BR and PCC are trained, compared with scikit-learn's logistic regression as they were trained with before.

A task is all of training: C by cross-validation over the grid, then one classifier for each label. Kernels are compiled
and the data is in memory before anything is measured.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from benchmarks.harness import TIMES, TRAINING, YES_OR_NO, Contender, Data, Report, Rows, Task, differing
from benchmarks.settings import paper_setting
from xmlc.core.errors import needs_extra
from xmlc.core.passport import WARM_UP_ROWS
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.elementwise import sigmoid_into
from xmlc.kernels.streams import Stream
from xmlc.models.linear.binary_relevance import BinaryRelevance
from xmlc.models.linear.classifier_chain import ProbabilisticClassifierChain
from xmlc.models.linear.label_logistic import LabelLogistic, scales

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

ESTIMATORS: dict[str, type[LabelLogistic]] = {"br": BinaryRelevance, "pcc": ProbabilisticClassifierChain}
PEER = "scikit-learn"
SOLUTION = "solution"
TOLERANCE, ROUGH_TOLERANCE, MAX_ITERATIONS = 1e-6, 1e-4, 5000  # of L-BFGS: for what was kept, and to choose C
TIGHT = 1e-12
TIGHT_FIT = "compared with scikit-learn's solver newton-cg, tolerance 1e-12, at the same C"


def bench_logistic(folder: Path, estimator: str = "br", threads: int = 2, rounds: int = 1) -> Report:
    """Measure training on one and on several threads and by scikit-learn, and how close the solutions are.

    Parameters
    ----------
    folder : Path
        Written by `xmlc prepare`.
    estimator : {"br", "pcc"}
    threads : int
        Compared with one thread. scikit-learn has one: its solver holds the interpreter's lock most of the time.
    rounds : int

    Raises
    ------
    XmlcError
        The folder holds no dataset, or scikit-learn is not installed.
    """
    require_peer()
    data, name = Data.read(folder), estimator.upper()
    X, Y, rows = data.X, data.Y, Rows("logistic", data.name)
    setting = paper_setting("gfm2011", estimator).hyperparameters
    one, several, peer = (ESTIMATORS[estimator](n_jobs=n).set_params(**setting) for n in (1, threads, 1))
    several.unfitted().fit(X[: 4 * WARM_UP_ROWS], Y[: 4 * WARM_UP_ROWS])
    tasks = [
        Task(name, TRAINING, lambda: one.fit(X, Y)),
        Task(name, TRAINING, lambda: several.fit(X, Y), threads=threads),
        Task(PEER, TRAINING, lambda: fit_with_peer(peer, X, Y)),
    ]
    found = rows.measure(tasks, rounds, cpu=True)
    rows.add_speed_up(name, TRAINING, threads)
    rows.add_same_bits(name, TRAINING, differing(_arrays(one), _arrays(several)), threads)
    for n in (1, threads):
        for row in rows.of(PEER, TRAINING):
            own = rows.value(name, TRAINING, row.measure, n)
            rows.add(name, TRAINING, f"{PEER}'s {row.measure} / this", TIMES, row.value / own, threads=n)
    C = float(np.nanmax(one.C_, initial=0.0))
    rows.add(name, SOLUTION, "C", "", C)
    rows.add(name, SOLUTION, f"C is also that of {PEER}'s losses", YES_OR_NO, found[PEER, TRAINING, 1] == C)
    decrement = float(np.nanmax(one.decrements_, initial=0.0))
    rows.add(name, SOLUTION, "largest squared Newton decrement relative to the objective", "", decrement)
    difference = largest_difference(one, X, Y, data.X_test, data.Y_test)
    rows.add(name, SOLUTION, "largest difference of probabilities on the test set", "", difference, note=TIGHT_FIT)
    rows.add_process()
    peer_is = (
        f"L-BFGS with tolerance {ROUGH_TOLERANCE:g} for the choice of C and {TOLERANCE:g} after it, one thread, as it "
        f"was used before"
    )
    return rows.report(
        about=f"{data.size}; C by cross-validation, then all labels; minimum of {rounds} interleaved rounds",
        threads=threads,
        contenders=[Contender(name, "this package", setting, (1, threads)), Contender(PEER, peer_is, setting)],
    )


def _arrays(model: LabelLogistic) -> dict[str, np.ndarray]:
    return {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}


def require_peer() -> None:
    """Raise an XmlcError if scikit-learn is not installed."""
    try:
        import sklearn.linear_model  # noqa: F401
        import threadpoolctl  # noqa: F401
    except ImportError as error:
        raise needs_extra("scikit-learn is not installed", "peers") from error


class Inputs:
    """The input of each label's classifier, unscaled.

    Parameters
    ----------
    model : LabelLogistic
        The labels before are features too where it is a chain.
    X : CSR, shape (n, d)
    Y : boolean CSR, shape (n, m)
    """

    def __init__(self, model: LabelLogistic, X: sparse.csr_array, Y: sparse.csr_array):
        self.chain = isinstance(model, ProbabilisticClassifierChain)
        self.X, self.numbers, self.Y = sparse.csr_array(X.astype(np.float64)), Y.astype(np.float64), Y

    def of(self, j: int) -> sparse.csr_array:
        """Return the input of label j's classifier."""
        if not self.chain:
            return self.X
        return sparse.csr_array(sparse.hstack([self.X, sparse.csr_array(self.numbers[:, :j])], format="csr"))

    def targets(self, j: int) -> np.ndarray:
        """Return its targets."""
        return self.Y[:, [j]].toarray().ravel()


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

    inputs, grid = Inputs(model, X, Y), list(model.C_grid)
    fold_of = random_permutation(X.shape[0], model.random_state, Stream.LOGISTIC_FOLD) % model.folds
    total = np.zeros(len(grid))
    # On vectors this short BLAS's own threads take five times as long as one.
    with threadpool_limits(limits=1, user_api="blas"):
        for Z, y in _scaled(inputs):
            losses = [_path_losses(*parts, grid) for parts in _folds(Z, y, fold_of, model.folds)]
            total += np.mean(losses, axis=0) if losses else 0.0
        C = float(grid[int(total.argmin())])
        for Z, y in _scaled(inputs):
            if 0 < y.sum() < y.size:
                _peer(C, TOLERANCE).fit(Z, y)
    return C


def _scaled(inputs: Inputs) -> Iterator[tuple[sparse.csr_array, np.ndarray]]:
    """Yield the training set of each label's classifier."""
    for j in range(inputs.Y.shape[1]):
        Z = inputs.of(j)
        yield sparse.csr_array(Z * scales(Z)), inputs.targets(j)


def _folds(
    Z: sparse.csr_array, y: np.ndarray, fold_of: np.ndarray, folds: int
) -> Iterator[tuple[sparse.csr_array, np.ndarray, sparse.csr_array, np.ndarray]]:
    """Yield the instances within and without each fold whose training part knows both classes."""
    for fold in range(folds):
        inside = fold_of != fold
        if 0 < y[inside].sum() < inside.sum() and not inside.all():
            yield Z[inside], y[inside], Z[~inside], y[~inside]


def _peer(C: float, tol: float, solver: str = "lbfgs", warm_start: bool = False) -> LogisticRegression:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=C, tol=tol, max_iter=MAX_ITERATIONS, solver=solver, warm_start=warm_start)


def _path_losses(
    X: sparse.csr_array, y: np.ndarray, X_held_out: sparse.csr_array, y_held_out: np.ndarray, grid: list[float]
) -> list[float]:
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
    model: LabelLogistic, X: sparse.csr_array, Y: sparse.csr_array, X_test: sparse.csr_array, Y_test: sparse.csr_array
) -> float:
    """Return the largest difference of P(Y_j = 1 | x, earlier labels of the test set) to scikit-learn's tight fit."""
    inputs, test_inputs, largest = Inputs(model, X, Y), Inputs(model, X_test, Y_test), 0.0
    for j in np.flatnonzero(~np.isnan(model.C_)).tolist():
        Z, Z_test = inputs.of(j), test_inputs.of(j)
        weights = model.weights_[j].astype(np.float64)
        if isinstance(model, ProbabilisticClassifierChain):
            weights = np.concatenate([weights, model.influence_[:j, j]])
        scores, ours = Z_test @ weights + float(model.constants_[j]), np.empty(Z_test.shape[0])
        sigmoid_into(scores, ours)
        scale = scales(Z)
        tight = _peer(float(model.C_[j]), TIGHT, solver="newton-cg")
        tight.fit(sparse.csr_array(Z * scale), inputs.targets(j))
        theirs = tight.predict_proba(sparse.csr_array(Z_test * scale))[:, 1]
        largest = max(largest, float(np.abs(ours - theirs).max(initial=0.0)))
    return largest
