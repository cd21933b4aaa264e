"""Compilation of kernels ahead of their first call, by calls on a few random instances."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError, nearest
from xmlc.kernels.estimator import Hyperparameters

N_TRAIN = 60
N_FEATURES = 40
N_LABELS = 24
MIN_PROBABILITY = 0.01


def compile_kernels(
    *estimators: str,
    hyperparameters: Hyperparameters | None = None,
    thresholds: Sequence[str] = (),
    inference: Sequence[str] = (),
) -> None:
    """Compile the kernels of estimators and methods, so that a later process compiles nothing.

    The kernels are stored in the package, or in the folder ``NUMBA_CACHE_DIR`` if this variable is
    set before xmlc is imported. Read access suffices to use them.

    Parameters
    ----------
    *estimators : str
        Names from configuration files, such as ``"plt"``, ``"swnn"`` and ``"fastxml"``.
    hyperparameters : dict, optional
        Hyperparameters of every listed estimator. Only those that affect the choice of kernels
        matter, such as ``{"tree": "kmeans"}``.
    thresholds, inference : sequence of str
        Names of methods, such as ``"sto"`` and ``"gfm"``.

    Raises
    ------
    XmlcError
        If an estimator, a hyperparameter or a method is unknown.

    See Also
    --------
    set_progress : Switches the report of compilations off.

    Examples
    --------
    >>> from xmlc import compile_kernels
    >>> compile_kernels("plt", inference=["meuf"])
    """
    from xmlc.inference.methods import METHODS as INFERENCE
    from xmlc.models.registry import estimator_class
    from xmlc.thresholds.sweeps import METHODS as THRESHOLDS

    for name in estimators:
        estimator_class(name)
    for kind, names, known in (
        ("inference", inference, INFERENCE),
        ("threshold", thresholds, THRESHOLDS),
    ):
        for name in names:
            if name not in known:
                raise XmlcError(f"found {kind} method {name!r}, expected {nearest(name, known)}")
    for name in estimators:
        compile_model(name, hyperparameters or {})
    if thresholds:
        compile_thresholds(thresholds)
    if inference:
        compile_inference(inference)


def few() -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array]:
    """Return a few random instances, label sets and estimates of every true label."""
    rng = np.random.default_rng(0)
    values = rng.random((N_TRAIN, N_FEATURES), dtype=np.float32)
    # scipy 1.11 has no random_array
    X = sparse.csr_array(np.where(values > 0.7, values, np.float32(0)))
    estimates = rng.random((N_TRAIN, N_LABELS), dtype=np.float32)
    Y = sparse.csr_array(estimates > 0.85)
    return X, Y, sparse.csr_array(np.where(estimates > 0.6, estimates, np.float32(0)))


def compile_model(estimator: str, hyperparameters: Hyperparameters) -> None:
    """Compile the kernels that train an estimator and predict with it.

    Programs that xmlc wraps have none. The predictions are the k top labels, estimates above one
    threshold, and estimates above a threshold for each label. Ranking is compiled for float64, too,
    which scikit-learn's vectorizers return.
    """
    from xmlc.models.registry import make_estimator, program_of
    from xmlc.models.warm_up import warm_up

    if program_of(estimator):
        return
    X, Y, _ = few()
    model = make_estimator(estimator, hyperparameters, seed=0, n_jobs=1)
    if not model.compiles:
        return
    warm_up(model, X, Y)
    model.fit(X, Y)
    model.predict_top_k(X, 5)
    model.predict_top_k(X.astype(np.float64), 5)
    model.warm_up()
    model.predict_proba(X, MIN_PROBABILITY)
    model.predict_proba(X, np.full(N_LABELS, 0.5, dtype=np.float32))


def compile_thresholds(methods: Sequence[str]) -> None:
    """Compile the kernels of threshold methods, except users' own, and of scores of label sets."""
    from xmlc.kernels.csr import top_k_of
    from xmlc.metrics.ranking import precision_and_ndcg
    from xmlc.thresholds.bounds import priors
    from xmlc.thresholds.calibration import IsotonicCalibration
    from xmlc.thresholds.methods import apply_thresholds
    from xmlc.thresholds.sweeps import METHODS, tune

    _, Y, P = few()
    for method in filter(METHODS.__contains__, methods):
        tuned = tune(method, P, Y, priors(Y), min_probability=MIN_PROBABILITY)
        _score(Y, apply_thresholds(P, tuned.thresholds))
    precision_and_ndcg(Y, top_k_of(IsotonicCalibration().fit(P, Y).transform(P), 5)[0])


def compile_inference(methods: Sequence[str]) -> None:
    """Compile the kernels of inference methods, except users' own, and of scores of label sets."""
    from xmlc.inference.distributions import missed_below, truncation_bound
    from xmlc.inference.methods import METHODS, infer_blocks
    from xmlc.inference.sizes import fit_size_weights

    _, Y, P = few()
    weights = fit_size_weights(P, Y)
    for method in filter(METHODS.__contains__, methods):
        size_weights = None
        if METHODS[method].takes_sizes:
            size_weights = weights
        inferred = infer_blocks(method, P, 1, size_weights=size_weights)
        if inferred:
            _score(Y, inferred[0])
            truncation_bound(*inferred, missed_below(P, Y), kappa=0.0)


def _score(Y: sparse.csr_array, Y_hat: sparse.csr_array) -> None:
    from xmlc.metrics.classification import agreement, classification_metrics
    from xmlc.metrics.resampling import resampled_sets

    resampled_sets(Y.shape[0], partial(agreement, Y, Y_hat), classification_metrics(Y, Y_hat))
