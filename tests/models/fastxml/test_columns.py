"""The columns of a node that the solver is given."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.csr import kernel_csr
from xmlc.models.fastxml._columns import gather_columns

SMALL = settings(max_examples=40, deadline=None)


@SMALL
@given(seed=st.integers(0, 10_000), scale=st.sampled_from([0.05, 0.3, 1.0]))
def test_gathered_columns_are_those_that_can_matter(seed, scale):
    rng = np.random.default_rng(seed)
    n, d, k = 12, 9, 7
    X = sparse.random_array((n, d), density=0.5, rng=rng, dtype=np.float32).tocsr()
    X.data = (X.data * rng.choice([-1, 1], X.nnz) * scale).astype(np.float32)
    node = np.sort(rng.choice(n, k, replace=False)).astype(np.uint32)
    side = rng.choice([-1, 1], k).astype(np.int8)
    costs = np.float32(2.5), np.float32(1.5)
    counts, bounds = np.zeros(d, np.uint32), np.zeros((d, 2), np.float32)
    features, starts = np.empty(d + 1, np.uint32), np.empty(d + 2, np.int64)
    rows, values = np.empty(X.nnz + n, np.uint32), np.empty(X.nnz + n, np.float32)
    x = kernel_csr(X)
    p = gather_columns(*x, node, side, costs, counts, bounds, features, starts, rows, values)
    found = np.zeros((k, d + 1))
    for j in range(p):
        own = slice(starts[j], starts[j + 1])
        found[rows[own], features[j]] = values[own]
    dense = np.hstack([X.toarray()[node], np.ones((k, 1))])
    pull = dense * np.where(side > 0, costs[0], -costs[1])[:, None]
    matters = np.maximum(np.where(pull > 0, pull, 0).sum(axis=0), np.where(pull < 0, -pull, 0).sum(axis=0)) > 1
    matters[d] = True
    assert set(features[:p]) == set(np.flatnonzero(matters))
    assert np.array_equal(found, dense * matters)
    assert not counts.any()
    assert not bounds.any()
