"""Training speed of BR and PCC, compared with scikit-learn's logistic regression on one thread.

A task trains one classifier per label with the C that cross-validation selected, on data in memory
and with compiled kernels.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
from scipy import sparse

from benchmarks.commands import benchmark, rounds_option, threads_option
from benchmarks.harness import TIME, TIMES, TRAINING, Contender, Data, Report, Task, differing
from benchmarks.settings import paper_setting
from xmlc.core.errors import needs_extra
from xmlc.kernels.elementwise import sigmoid_into
from xmlc.models.linear.binary_relevance import BinaryRelevance
from xmlc.models.linear.classifier_chain import ProbabilisticClassifierChain
from xmlc.models.linear.label_logistic import LabelLogistic, spreads
from xmlc.suite.options import data_option

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression

ESTIMATORS: dict[str, type[LabelLogistic]] = {
    "br": BinaryRelevance,
    "pcc": ProbabilisticClassifierChain,
}
BASELINE = "scikit-learn"
SOLUTION = "solution"
# For scikit-learn's solver L-BFGS
TOLERANCE = 1e-6
MAX_ITERATIONS = 5000
TIGHT = 1e-12
TIGHT_FIT = "compared with scikit-learn's solver newton-cg, tolerance 1e-12, at the same C"


@benchmark(
    "logistic",
    "Compare BR and PCC with scikit-learn.",
    data_option,
    click.option(
        "--estimator", default="br", show_default=True, type=click.Choice(list(ESTIMATORS))
    ),
    threads_option,
    rounds_option(1),
)
def bench_logistic(data: Path, estimator: str, threads: int, rounds: int) -> Report:
    """Compare training on threads and by scikit-learn, and the models."""
    dataset = Data.read(data)
    name = estimator.upper()
    kind = ESTIMATORS[estimator]
    X = dataset.X
    Y = dataset.Y
    setting = paper_setting("gfm2011", estimator).hyperparameters
    C = float(np.nanmax(kind(n_jobs=threads).set_params(**setting).fit(X, Y).C_, initial=0.0))
    setting |= {"C": C}
    contenders = [
        Contender(name, "this package", setting),
        Contender(BASELINE, f"L-BFGS with tolerance {TOLERANCE:g}, one thread", setting),
    ]
    about = f"{dataset.size}, all labels, the fastest of {rounds} interleaved rounds"
    report = Report("logistic", dataset.name, about, contenders)
    one, several = (kind(n_jobs=n).set_params(**setting) for n in (1, threads))
    tasks = [
        Task(name, TRAINING, partial(one.fit, X, Y)),
        Task(name, TRAINING, partial(several.fit, X, Y), threads=threads),
        Task(BASELINE, TRAINING, lambda: fit_with_baseline(one, C, X, Y)),
    ]
    report.measure(tasks, rounds)
    report.add_speed_up(name, TRAINING, threads)
    report.add_same_bits(name, TRAINING, differing(_arrays(one), _arrays(several)), threads)
    for n in (1, threads):
        times = report.value(BASELINE, TRAINING, TIME) / report.value(name, TRAINING, TIME, n)
        report.add(name, TRAINING, f"{BASELINE}'s {TIME} / this", TIMES, times, threads=n)
    decrement = float(np.nanmax(one.decrements_, initial=0.0))
    report.add(
        name, SOLUTION, "largest squared Newton decrement relative to the objective", "", decrement
    )
    difference = largest_difference(one, X, Y, dataset.X_test, dataset.Y_test)
    report.add(
        name,
        SOLUTION,
        "largest difference of probabilities on the test set",
        "",
        difference,
        note=TIGHT_FIT,
    )
    report.add_process()
    return report


def _arrays(model: LabelLogistic) -> dict[str, np.ndarray]:
    return {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}


def inputs_of(
    model: LabelLogistic, X: sparse.csr_array, Y: sparse.csr_array, j: int
) -> sparse.csr_array:
    """Return the unscaled features of label j's classifier, in a chain with the earlier labels."""
    if not isinstance(model, ProbabilisticClassifierChain):
        return X
    return sparse.csr_array(sparse.hstack([X, Y[:, :j]], format="csr"))


def fit_with_baseline(
    model: LabelLogistic, C: float, X: sparse.csr_array, Y: sparse.csr_array
) -> None:
    """Train scikit-learn's classifiers label by label, each on newly scaled features."""
    X = X.astype(np.float64)
    numbers = Y.astype(np.float64)
    for j in range(Y.shape[1]):
        Z = inputs_of(model, X, numbers, j)
        y = Y[:, [j]].toarray().ravel()
        if 0 < y.sum() < y.size:
            _, scale = spreads(Z, np.ones(Z.shape[0]))
            _baseline(C, TOLERANCE, "lbfgs").fit(sparse.csr_array(Z * scale), y)


def _baseline(C: float, tol: float, solver: str) -> LogisticRegression:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise needs_extra("scikit-learn is not installed", "baselines") from error
    return LogisticRegression(C=C, tol=tol, max_iter=MAX_ITERATIONS, solver=solver)


def largest_difference(
    model: LabelLogistic,
    X: sparse.csr_array,
    Y: sparse.csr_array,
    X_test: sparse.csr_array,
    Y_test: sparse.csr_array,
) -> float:
    """Return the largest difference of P(Y_j = 1 | x, earlier true labels) from scikit-learn."""
    parts = [
        (features.astype(np.float64), labels) for features, labels in ((X, Y), (X_test, Y_test))
    ]
    largest = 0.0
    for j in np.flatnonzero(~np.isnan(model.C_)).tolist():
        Z, Z_test = (inputs_of(model, *part, j) for part in parts)
        weights = model.weights_[j].astype(np.float64)
        if isinstance(model, ProbabilisticClassifierChain):
            weights = np.concatenate([weights, model.influence_[:j, j]])
        scores = Z_test @ weights + float(model.constants_[j])
        ours = np.empty(Z_test.shape[0])
        sigmoid_into(scores, ours)
        _, scale = spreads(Z, np.ones(Z.shape[0]))
        tight = _baseline(float(model.C_[j]), TIGHT, "newton-cg")
        tight.fit(sparse.csr_array(Z * scale), Y[:, [j]].toarray().ravel())
        theirs = tight.predict_proba(sparse.csr_array(Z_test * scale))[:, 1]
        largest = max(largest, float(np.abs(ours - theirs).max(initial=0.0)))
    return largest
