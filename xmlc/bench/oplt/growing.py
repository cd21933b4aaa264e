"""A synthetic stream of instances that never stops growing.

It is a mixture of worlds, of which more and more open. An instance belongs to one of the open worlds, any with the same
probability; its labels and every second of its features are those of its world alone. So labels and features keep
appearing, while the numbers of them that an instance has stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.kernels.counter_random import random_bits, stream_key
from xmlc.kernels.streams import Stream

Batch = tuple[sparse.csr_array, sparse.csr_array]  # instances and label sets


class World(NamedTuple):
    """What `SyntheticModel` makes the instances of one world of."""

    n_features: int
    n_labels: int
    labels_per_instance: float
    nonzeros: int


WORLD = World(n_features=1000, n_labels=500, labels_per_instance=3.0, nonzeros=30)
WORLDS = 40
BATCH = 10_000


class GrowingStream:
    """Instances of more and more worlds.

    Parameters
    ----------
    instances : int
        Length n of the stream; world w of `WORLDS` opens at row w * n / `WORLDS`.
    seed : int
    """

    def __init__(self, instances: int, seed: int = 0):
        self.instances, self.seed = instances, seed
        self._model = SyntheticModel(*WORLD, seed=seed)

    def draw(self, start: int, end: int) -> Batch:
        """Draw rows ``start .. end - 1``; the matrices are as wide as the worlds that have opened by then."""
        X, Y, _ = self._model.draw(start, end, n_jobs=1)
        rows = np.arange(start, end)
        opened = 1 + rows * WORLDS // self.instances
        key = stream_key(np.int64(self.seed), np.int64(Stream.GROWING_WORLD))
        drawn = [int(random_bits(key, row)) % count for row, count in zip(rows, opened.tolist())]
        worlds = np.array(drawn, dtype=np.int64)
        d, m = WORLD.n_features, WORLD.n_labels
        features, labels = X.indices.astype(np.int64), Y.indices.astype(np.int64)
        own = features % 2 == 1
        features[own] += (worlds * d)[np.repeat(np.arange(rows.size), np.diff(X.indptr))[own]]
        labels += (worlds * m)[np.repeat(np.arange(rows.size), np.diff(Y.indptr))]
        width = int(opened[-1])
        wider = sparse.csr_array((X.data, features, X.indptr), shape=(rows.size, d * width))
        wider.sort_indices()
        return wider, sparse.csr_array((Y.data, labels, Y.indptr), shape=(rows.size, m * width))

    def batches(self, start: int, end: int) -> Iterator[Batch]:
        """Draw rows ``start .. end - 1`` in batches."""
        for first in range(start, end, BATCH):
            yield self.draw(first, min(first + BATCH, end))


def together(parts: list[Batch]) -> Batch:
    """Stack batches, each of which is at most as wide as the last."""
    stacked = []
    for matrices in zip(*parts):
        width = matrices[-1].shape[1]
        same = [sparse.csr_array((A.data, A.indices, A.indptr), shape=(A.shape[0], width)) for A in matrices]
        stacked.append(sparse.csr_array(sparse.vstack(same, format="csr")))
    return stacked[0], stacked[1]
