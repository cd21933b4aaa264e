"""How long one instance at a time takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from scipy import sparse

from xmlc.bench.plt.contenders import K
from xmlc.models.plt import PLT
from xmlc.passport import WARM_UP_ROWS, timed

ASKED_ONE_BY_ONE = 2000  # instances, at most


@dataclass(frozen=True)
class Latency:
    """Milliseconds per instance, median and 99th percentile."""

    median_ms: float
    p99_ms: float


def latency(model: PLT, X: sparse.csr_array) -> Latency:
    """Ask for the best labels of instances one by one, from Python."""
    instances = [(X.indices[start:end], X.data[start:end]) for start, end in pairwise(X.indptr[: ASKED_ONE_BY_ONE + 1])]
    for instance in instances[:WARM_UP_ROWS]:
        model.rank_one(*instance, K)
    turns = [timed(partial(model.rank_one, *instance, K))[1] for instance in instances]
    median, high = np.percentile(turns, (50, 99))
    return Latency(1e3 * float(median), 1e3 * float(high))
