"""How fast the expected F is maximised for each instance, method beside method on the same samples.

One process, tasks in turns, the best round of each; every task has run before, so that no kernel is compiled in a
measured time. The model is trained or read, and its samples are drawn, once and outside of all measured times: a method
gets label vectors in memory and gives label sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.bench.inference._counting import count_by_size
from xmlc.data.prepared import Prepared
from xmlc.errors import XmlcError
from xmlc.inference import gfm
from xmlc.inference.growth import measure_growth, occupied, task_of
from xmlc.metrics.classification import instance_f
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import estimator_class, make_estimator
from xmlc.passport import WARM_UP_ROWS, in_turns, passport, peak_bytes, timed
from xmlc.samples import Samples

METHODS = ("gfm", "gfm-t", "meuf-cubic", "meuf-approx", "meuf", "lewis")
ESTIMATOR = "pcc"
AT_LEAST = 0.2  # seconds of a task per round
SIDE = 128  # of the matrices whose product tells how fast the machine multiplies and adds


def compare_inference(
    data: Path,
    model_folder: Path | None = None,
    estimator: str = ESTIMATOR,
    n_samples: int = 200,
    threads: int = 1,
    rounds: int = 3,
    seed: int = 0,
    growth: bool = True,
) -> dict[str, Any]:
    """Measure what inference takes on the test set, by method, and how GFM's time compares with the machine's limit.

    Parameters
    ----------
    data : Path
        Folder written by `xmlc prepare`.
    model_folder : Path or None
        A trained model that can draw samples; without it one is trained.
    estimator : str
        The model's, see `xmlc.models.registry`.
    n_samples : int
        Label vectors for each instance.
    threads : int
    rounds : int
        The best counts.
    seed : int
        Of training and of the samples.
    growth : bool
        Whether to measure how times grow with the number of labels too (`measure_growth`, on one thread).

    Returns
    -------
    dict
        ``dataset``, ``shape`` (test instances, labels), ``n_samples``, ``threads``, ``rounds``; ``sampling_seconds``;
        ``methods`` by name: ``seconds`` of the rounds, ``ms`` per instance, ``instance_f`` on the test set; ``ratios``
        of best times to GFM's; ``work`` and ``limit`` (`gfm_work`, `gfm_limit`); ``growth``; ``peak_bytes``;
        ``passport``.

    Raises
    ------
    XmlcError
        The folder holds no dataset, or the model cannot draw samples.
    """
    prepared = Prepared(data)
    X_test, Y_test = prepared.part("test")
    model: Any = _model(prepared, model_folder, estimator, threads, seed)
    model.sample(X_test[:WARM_UP_ROWS], n_samples)  # loads what is compiled
    drawn, sampling_seconds = timed(lambda: model.sample(X_test, n_samples))
    samples = Samples(drawn, n_samples)
    work = gfm_work(samples, gfm(samples, n_jobs=threads)[1])
    methods = compare_methods(samples, Y_test, threads, rounds)
    limit = gfm_limit(samples, work, rounds)
    best = {name: min(measured["seconds"]) for name, measured in methods.items()}
    result: dict[str, Any] = {
        "dataset": prepared.meta["name"],
        "shape": list(Y_test.shape),
        "n_samples": n_samples,
        "threads": threads,
        "rounds": rounds,
        "sampling_seconds": sampling_seconds,
        "methods": methods,
        "ratios": {name: seconds / best["gfm"] for name, seconds in best.items()},
        "work": work,
        "limit": limit,
        "growth": measure_growth(seed, rounds=rounds) if growth else None,
    }
    return result | {"peak_bytes": peak_bytes(), "passport": passport(threads)}


def _model(
    prepared: Prepared, folder: Path | None, estimator: str, threads: int, seed: int
) -> SparseProbabilityEstimator:
    kind = estimator_class(estimator)
    if not hasattr(kind, "sample"):
        raise XmlcError(
            f"{estimator} has no method `sample`; expected an estimator that draws label vectors, such as pcc"
        )
    if folder is not None:
        return kind.load(folder)
    return make_estimator(estimator, {}, seed, threads).fit(*prepared.part("train"))


def compare_methods(samples: Samples, Y: sparse.csr_array, threads: int, rounds: int) -> dict[str, dict[str, Any]]:
    """Infer with every method in turns; return ``seconds`` of the rounds, best ``ms`` per instance, ``instance_f``."""
    tasks = {name: task_of(name, samples, threads) for name in METHODS}
    for task in tasks.values():
        task()
    seconds, found = in_turns(tasks, rounds, AT_LEAST)
    return {
        name: {
            "seconds": seconds[name],
            "ms": 1e3 * min(seconds[name]) / Y.shape[0],
            "instance_f": float(instance_f(Y, found[name][0])),
        }
        for name in METHODS
    }


def gfm_work(samples: Samples, best_f: np.ndarray) -> dict[str, float]:
    """Count, per instance, what GFM cannot leave out.

    Parameters
    ----------
    samples : Samples
    best_f : ndarray of float64, shape (n,)
        The highest expected F of each instance.

    Returns
    -------
    dict
        ``ones`` of the sample, each of which is read and counted; ``distinct_sizes`` S and ``labels_drawn`` L;
        ``columns`` K of F = P W that may hold the maximum: no set of k labels has an expected F above
        2 sum_is p_is / (s + k), which falls with k, so that greater k than those need not be looked at;
        ``multiply_adds``: L S K; ``bytes``: 4 for each one's label.
    """
    m = samples.Y.shape[1]
    sizes, labels = occupied(samples)
    drawn_sizes = np.diff(samples.Y.indptr).reshape(-1, samples.n_samples)
    ones = float(drawn_sizes.sum(axis=1).mean())
    # sum_i p_is = s p(s_y = s): each vector of size s adds s.
    k = np.arange(1, m + 1)[:, None]
    reachable = [2 * np.mean(row / (np.maximum(row, 1) + k), axis=1) for row in drawn_sizes]
    columns = float(np.mean([np.sum(bounds > best) for bounds, best in zip(reachable, best_f, strict=True)]))
    return {
        "ones": ones,
        "distinct_sizes": sizes,
        "labels_drawn": labels,
        "columns": columns,
        "multiply_adds": labels * sizes * columns,
        "bytes": 4 * ones,
    }


def gfm_limit(samples: Samples, work: Mapping[str, float], rounds: int) -> dict[str, float]:
    """Measure how long this machine needs for that work at the least, on one thread.

    Returns
    -------
    dict
        ``count_ns`` per one, by a kernel that does nothing else, on a table in the first cache; ``multiply_add_ns``, by
        the BLAS of numpy on matrices in the cache; ``ms`` per instance, from both.

    Raises
    ------
    XmlcError
        threadpoolctl, which gives BLAS one thread, is not installed.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        raise XmlcError("threadpoolctl is not installed; install the extra: pip install 'xmlc[peers]'") from error
    indptr, indices = samples.Y.indptr.astype(np.int64), samples.Y.indices.astype(np.int32).view(np.uint32)
    counts = np.zeros((samples.Y.shape[1] + 1, samples.Y.shape[1]), dtype=np.uint32)
    left, right, product = (np.full((SIDE, SIDE), 0.5) for _ in range(3))
    tasks: dict[str, Callable[[], Any]] = {
        "count": lambda: count_by_size(indptr, indices, counts),
        "multiply_add": lambda: np.matmul(left, right, out=product),
    }
    for task in tasks.values():
        task()
    with threadpool_limits(1, user_api="blas"):
        seconds, _ = in_turns(tasks, rounds, AT_LEAST)
    count_ns = 1e9 * min(seconds["count"]) / max(indices.size, 1)
    multiply_add_ns = 1e9 * min(seconds["multiply_add"]) / SIDE**3
    ms = 1e-6 * (count_ns * work["ones"] + multiply_add_ns * work["multiply_adds"])
    return {"count_ns": count_ns, "multiply_add_ns": multiply_add_ns, "ms": ms}
