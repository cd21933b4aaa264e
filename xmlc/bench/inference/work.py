"""What GFM cannot leave out, and how long this machine needs for it at the least."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xmlc.bench.harness import PER_INSTANCE, TIME, Rows
from xmlc.bench.inference._counting import count_by_size
from xmlc.errors import XmlcError
from xmlc.estimates import Samples
from xmlc.inference.growth import occupied
from xmlc.passport import in_turns

AT_LEAST = 0.2  # seconds of a task per round
LIMIT = "what GFM cannot leave out of an instance, and the machine's limit"
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


def add_gfm_work(rows: Rows, samples: Samples, best_f: np.ndarray) -> Work:
    """Add, per instance, what GFM cannot leave out.

    Parameters
    ----------
    rows : Rows
    samples : Samples
    best_f : ndarray of float64, shape (n,)
        See `gfm_work`.
    """
    work = gfm_work(samples, best_f)
    figures = {
        ("ones of the samples, counted", ""): work.ones,
        ("bytes of them", ""): work.bytes,
        ("labels drawn, L", ""): work.labels_drawn,
        ("distinct sizes, S", ""): work.distinct_sizes,
        ("columns of F that may hold the maximum, K", ""): work.columns,
        ("products added, L S K", ""): work.multiply_adds,
    }
    rows.add_each("gfm", LIMIT, figures)
    return work


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


def add_gfm_limit(rows: Rows, samples: Samples, work: Work, rounds: int) -> None:
    """Measure and add how long this machine needs for that work at the least, on one thread.

    A one is counted by a kernel that does nothing else, on a table in the first cache; a product is added by the BLAS
    of numpy on matrices in the cache.

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
    count_ns = [1e9 * turn / max(indices.size, 1) for turn in seconds["count"]]
    product_ns = [1e9 * turn / SIDE**3 for turn in seconds["multiply_add"]]
    rows.add_least("gfm", LIMIT, "time for a one", "ns", count_ns)
    rows.add_least("gfm", LIMIT, "time for a product", "ns", product_ns)
    ms = 1e-6 * (min(count_ns) * work.ones + min(product_ns) * work.multiply_adds)
    rows.add("gfm", LIMIT, TIME, PER_INSTANCE, ms)
