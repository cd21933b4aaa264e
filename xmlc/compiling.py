"""Compile kernels ahead of their first call, for the steps of a suite or for a server.

The kernels are compiled by calls on a few random instances. Without this module, each step compiles its kernels itself
on one core, and every process compiles the same basic functions again. This module divides the kernels into parts that
share few functions, and compiles the parts in parallel, with one process per core.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import redirect_stderr, suppress
from functools import partial
from io import StringIO
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError, nearest
from xmlc.core.machine import cpu_name, timed
from xmlc.core.threads import set_process_threads
from xmlc.kernels.estimator import Hyperparameters

N_TRAIN, N_FEATURES, N_LABELS = 60, 40, 24
MIN_PROBABILITY = 0.01


class CompiledPart(NamedTuple):
    """Describe the kernels that are compiled by calling ``function`` with ``arguments``, which have JSON types."""

    title: str
    function: Callable[..., None]
    arguments: Mapping[str, Any]


def model_of(title: str, estimator: str, hyperparameters: Hyperparameters) -> CompiledPart:
    """Return the `CompiledPart` for the kernels of an estimator."""
    return CompiledPart(title, compile_model, {"estimator": estimator, "hyperparameters": hyperparameters})


def methods_of(thresholds: Sequence[str], inference: Sequence[str]) -> list[CompiledPart]:
    """Return a list with a `CompiledPart` for the inference methods and a `CompiledPart` for the threshold methods.

    If there are no methods of a kind, the list has no `CompiledPart` for this kind.
    """
    parts = [CompiledPart("inference", compile_inference, {"methods": inference})] if inference else []
    return [*parts, CompiledPart("thresholds", compile_thresholds, {"methods": thresholds})] if thresholds else parts


def compile_kernels(
    *estimators: str,
    hyperparameters: Hyperparameters | None = None,
    thresholds: Sequence[str] = (),
    inference: Sequence[str] = (),
    to: str | Path | None = None,
    cores: int = 1,
) -> bool:
    """Compile the kernels of estimators and methods, so that their first call compiles nothing.

    Scripts must call the function below ``if __name__ == "__main__":``, because child processes compile the kernels.

    Parameters
    ----------
    *estimators : str
        Names from configuration files, such as ``"plt"``, ``"swnn"`` and ``"fastxml"``.
    hyperparameters : dict, optional
        Hyperparameters that every listed estimator gets. Only hyperparameters that affect the choice of kernels are
        needed, such as ``{"tree": "kmeans"}``.
    thresholds, inference : sequence of str
        Names of methods, such as ``"sto"`` and ``"gfm"``.
    to : path, optional
        Folder for the compiled kernels. To use the compiled kernels, set ``NUMBA_CACHE_DIR`` to this folder, for which
        read access suffices. By default the kernels are stored in the package.
    cores : int
        Number of processes.

    Returns
    -------
    bool
        Whether the folder contains all requested kernels, compiled for this processor and the installed versions.

    Raises
    ------
    XmlcError
        An estimator, a hyperparameter or a method is unknown.
    """
    from xmlc.inference.methods import METHODS as INFERENCE
    from xmlc.models.registry import estimator_class
    from xmlc.thresholds.sweeps import METHODS as THRESHOLDS

    for name in estimators:
        estimator_class(name)
    for kind, given, known in (("inference", inference, INFERENCE), ("threshold", thresholds, THRESHOLDS)):
        if unknown := sorted(set(given) - set(known)):
            raise XmlcError(f"found {kind} method {unknown[0]!r}, expected {nearest(unknown[0], known)}")
    parts = [*(model_of(name, name, hyperparameters or {}) for name in estimators), *methods_of(thresholds, inference)]
    before = os.environ.get("NUMBA_CACHE_DIR", "")
    os.environ["NUMBA_CACHE_DIR"] = before if to is None else str(Path(to).absolute())
    try:
        list(compile_parts(missing(parts), cores))
        return not missing(parts)
    finally:
        os.environ["NUMBA_CACHE_DIR"] = before  # Numba treats an empty NUMBA_CACHE_DIR as unset.


def compile_parts(parts: Sequence[CompiledPart], cores: int) -> Iterator[tuple[CompiledPart, float]]:
    """Compile parts in ``cores`` processes. Yield each compiled part, and the wall seconds of its compilation."""
    if not parts:
        return
    with ProcessPoolExecutor(cores, get_context("spawn"), set_process_threads, (1,)) as pool:
        running = {pool.submit(compile_part, part): part for part in parts}
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        except BaseException:  # Without this code, compilation would go on for minutes after Ctrl-C.
            pool.shutdown(wait=False, cancel_futures=True)
            for process in active_children():
                process.terminate()
            raise


def compile_part(part: CompiledPart) -> float:
    """Compile one part in this process, mark it as compiled, and return the wall seconds of the compilation."""
    with redirect_stderr(StringIO()):  # Progress bars over a few instances are useless.
        _, seconds = timed(lambda: part.function(**part.arguments))
    with suppress(OSError):  # Without a mark, the part is compiled again next time.
        _mark(part).parent.mkdir(exist_ok=True)
        _mark(part).touch()
    return seconds


def missing(parts: Sequence[CompiledPart]) -> list[CompiledPart]:
    """Return the parts that this version of the package has not compiled yet on this kind of machine."""
    return [part for part in parts if not _mark(part).exists()]


def _mark(part: CompiledPart) -> Path:
    """Return the path of the file that marks a part as compiled.

    The marking file is in a subfolder of the folder for kernels.
    """
    from xmlc.core.kernel_cache import kernel_folder

    machine = platform.python_version(), importlib.metadata.version("numba"), platform.machine(), cpu_name()
    about = json.dumps([part.title, part.arguments, machine], sort_keys=True)
    return kernel_folder() / "compiled" / hashlib.sha256(about.encode()).hexdigest()[:16]


def few() -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array]:
    """Return a few random instances, label sets and estimates. Every true label has an estimate."""
    rng = np.random.default_rng(0)
    values = rng.random((N_TRAIN, N_FEATURES), dtype=np.float32)
    X = sparse.csr_array(np.where(values > 0.7, values, np.float32(0)))  # scipy 1.11 has no random_array.
    shown = rng.random((N_TRAIN, N_LABELS), dtype=np.float32)
    return X, sparse.csr_array(shown > 0.85), sparse.csr_array(np.where(shown > 0.6, shown, np.float32(0)))


def compile_model(estimator: str, hyperparameters: Hyperparameters) -> None:
    """Compile the kernels that train an estimator and predict with it. Programs that xmlc wraps have no kernels.

    Three predictions are compiled: the k top labels, estimates above one threshold, and estimates above a threshold for
    each label. Ranking is compiled for float64, too, because scikit-learn's vectorizers return float64.
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
    """Compile the kernels that tune threshold methods and score label sets. Methods that users register are skipped."""
    from xmlc.kernels.csr import top_k_of
    from xmlc.metrics.ranking import precision_and_ndcg
    from xmlc.thresholds.bounds import priors
    from xmlc.thresholds.calibration import IsotonicCalibration
    from xmlc.thresholds.methods import apply_thresholds
    from xmlc.thresholds.sweeps import METHODS, tune

    _, Y, P = few()
    for method in filter(METHODS.__contains__, methods):
        _score(Y, apply_thresholds(P, tune(method, P, Y, priors(Y), min_probability=MIN_PROBABILITY).thresholds))
    precision_and_ndcg(Y, top_k_of(IsotonicCalibration().fit(P, Y).transform(P), 5)[0])


def compile_inference(methods: Sequence[str]) -> None:
    """Compile the kernels that infer label sets and score them. Methods that users register are skipped."""
    from xmlc.inference.distributions import missed_below, truncation_bound
    from xmlc.inference.methods import METHODS, infer_blocks
    from xmlc.inference.sizes import fit_size_weights

    _, Y, P = few()
    weights = fit_size_weights(P, Y)
    for method in filter(METHODS.__contains__, methods):
        if inferred := infer_blocks(method, P, 1, size_weights=weights if METHODS[method].takes_sizes else None):
            _score(Y, inferred[0])
            truncation_bound(*inferred, missed_below(P, Y), kappa=0.0)


def _score(Y: sparse.csr_array, Y_hat: sparse.csr_array) -> None:
    from xmlc.metrics.classification import agreement, classification_metrics
    from xmlc.metrics.resampling import resampled_sets

    resampled_sets(Y.shape[0], partial(agreement, Y, Y_hat), classification_metrics(Y, Y_hat))
