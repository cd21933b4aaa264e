"""What GFM cannot leave out, and how long this machine needs for it at the least."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xmlc.bench.inference._counting import count_by_size
from xmlc.errors import XmlcError
from xmlc.inference.growth import occupied
from xmlc.passport import in_turns
from xmlc.samples import Samples

AT_LEAST = 0.2  # seconds of a task per round
SIDE = 128  # of the matrices whose product tells how fast the machine multiplies and adds


@dataclass(frozen=True)
class Work:
    """What GFM cannot leave out, per instance.

    Attributes
    ----------
    ones : float
        Of the sample, each of which is read and counted.
    distinct_sizes, labels_drawn : float
        S and L.
    columns : float
        K of F = P W that may hold the maximum: no set of k labels has an expected F above 2 sum_is p_is / (s + k),
        which falls with k, so that greater k than those need not be looked at.
    multiply_adds : float
        L S K.
    bytes : float
        4 for each one's label.
    """

    ones: float
    distinct_sizes: float
    labels_drawn: float
    columns: float
    multiply_adds: float
    bytes: float


@dataclass(frozen=True)
class Limit:
    """How long this machine needs for that work at the least, on one thread.

    Attributes
    ----------
    count_ns : float
        Per one, by a kernel that does nothing else, on a table in the first cache.
    multiply_add_ns : float
        By the BLAS of numpy on matrices in the cache.
    ms : float
        Per instance, from both.
    """

    count_ns: float
    multiply_add_ns: float
    ms: float


def gfm_work(samples: Samples, best_f: np.ndarray) -> Work:
    """Count, per instance, what GFM cannot leave out.

    Parameters
    ----------
    samples : Samples
    best_f : ndarray of float64, shape (n,)
        The highest expected F of each instance.
    """
    m = samples.Y.shape[1]
    sizes, labels = occupied(samples)
    drawn_sizes = np.diff(samples.Y.indptr).reshape(-1, samples.n_samples)
    ones = float(drawn_sizes.sum(axis=1).mean())
    # sum_i p_is = s p(s_y = s): each vector of size s adds s.
    k = np.arange(1, m + 1)[:, None]
    reachable = [2 * np.mean(row / (np.maximum(row, 1) + k), axis=1) for row in drawn_sizes]
    columns = float(np.mean([np.sum(bounds > best) for bounds, best in zip(reachable, best_f, strict=True)]))
    return Work(
        ones=ones,
        distinct_sizes=sizes,
        labels_drawn=labels,
        columns=columns,
        multiply_adds=labels * sizes * columns,
        bytes=4 * ones,
    )


def gfm_limit(samples: Samples, work: Work, rounds: int) -> Limit:
    """Measure how long this machine needs for that work at the least, on one thread.

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
    tasks: dict[str, Callable[[], object]] = {
        "count": lambda: count_by_size(indptr, indices, counts),
        "multiply_add": lambda: np.matmul(left, right, out=product),
    }
    for task in tasks.values():
        task()
    with threadpool_limits(1, user_api="blas"):
        seconds, _ = in_turns(tasks, rounds, AT_LEAST)
    count_ns = 1e9 * min(seconds["count"]) / max(indices.size, 1)
    multiply_add_ns = 1e9 * min(seconds["multiply_add"]) / SIDE**3
    ms = 1e-6 * (count_ns * work.ones + multiply_add_ns * work.multiply_adds)
    return Limit(count_ns, multiply_add_ns, ms)
