"""GFM's inference from samples beside its bare accesses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from xmlc.bench.harness import Data
from xmlc.bench.limits._gfm import count_and_multiply, places_of
from xmlc.bench.limits.work import Arrays, Work
from xmlc.csr import as_labels
from xmlc.estimates import Samples
from xmlc.inference import gfm
from xmlc.inference.predictions import ROWS_PER_PIECE
from xmlc.models.nearest import SparseWeightedNearestNeighbors
from xmlc.runtime.parallel import row_blocks, run_pieces

N_SAMPLES = 200
MOST_INSTANCES = 2000
SEED = 0


def works(data: Data) -> Iterator[Work]:
    """Yield inference from samples of independent labels with the marginals of nearest neighbours."""
    X = data.X_test[:MOST_INSTANCES]
    samples = independent_samples(SparseWeightedNearestNeighbors().fit(data.X, data.Y).predict_proba(X), N_SAMPLES)
    indptr, labels = samples.Y.indptr.astype(np.int64), samples.Y.indices.astype(np.int32).view(np.uint32)
    place = np.full(samples.Y.shape[1], -1, dtype=np.int32)
    places, rows, shapes = places_of(indptr, labels, N_SAMPLES, place)

    def call(threads: int) -> Arrays:
        Y_hat, expected_f = gfm(samples, n_jobs=threads)
        return {"indptr": Y_hat.indptr, "labels": Y_hat.indices, "expected F": expected_f}

    def bare(threads: int) -> object:
        def work(start: int, end: int) -> float:
            return count_and_multiply(indptr, places, rows, shapes, N_SAMPLES, start, end)

        return run_pieces(work, row_blocks(X.shape[0], ROWS_PER_PIECE), threads)

    units = float((shapes[:, 0] * shapes[:, 1]).sum())
    ones, columns = labels.size / X.shape[0], shapes[:, 2].mean()
    yield Work(
        contender=f"GFM, {N_SAMPLES} samples",
        task="inference from samples",
        unit="label x size",
        units=units,
        call=call,
        bare=bare,
        bare_units=units,
        note=f"{X.shape[0]} instances, {ones:.0f} ones and {columns:.1f} columns of F each",
    )


def independent_samples(marginals: sparse.csr_array, n_samples: int) -> Samples:
    """Draw label sets of independent labels, ``n_samples`` for each row of marginals."""
    rng, sets = np.random.default_rng(SEED), []
    marginals = marginals.sorted_indices()
    for start, end in zip(marginals.indptr[:-1], marginals.indptr[1:], strict=True):
        hits = rng.random((n_samples, end - start), dtype=np.float32) < marginals.data[start:end]
        sizes = hits.sum(axis=1)
        labels = np.broadcast_to(marginals.indices[start:end], hits.shape)[hits]
        sets.append((sizes, labels))
    indptr = np.concatenate(([0], np.cumsum(np.concatenate([sizes for sizes, _ in sets]))))
    indices = np.concatenate([labels for _, labels in sets])
    shape = (indptr.size - 1, marginals.shape[1])
    # Proven once, as what is read from a file is.
    return Samples(
        as_labels(sparse.csr_array((np.ones(indices.size, dtype=bool), indices, indptr), shape=shape)), n_samples
    )
