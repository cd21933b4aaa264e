"""Make small data for nearest neighbours, with duplicates, empty rows and several kinds of
weights.
"""

import numpy as np
from scipy import sparse


def data(n, d, seed, kind="weights", n_queries=9):
    """Return instances, label sets and queries.

    Some instances are equal or empty, and some queries are equal to instances.
    """
    rng = np.random.default_rng(seed)
    density = rng.uniform(0.02, 0.5)
    X = sparse.random_array(
        (n + n_queries, d), density=density, rng=rng, dtype=np.float32, format="csr"
    )
    if kind == "binary":
        X.data[:] = 1
    if kind == "signs":
        X.data -= np.float32(0.5)
    Y = sparse.csr_array(rng.random((n, 6)) < 0.3)
    rows = rng.integers(0, n, n)
    queries = np.where(
        rng.random(n_queries) < 0.3, rng.integers(0, n, n_queries), n + np.arange(n_queries)
    )
    return X[rows], Y, X[queries]
