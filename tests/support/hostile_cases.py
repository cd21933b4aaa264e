"""Make matrices that scipy accepts, although their indices are outside of their arrays."""

import numpy as np
from scipy import sparse


def good_pair(n=24, d=12, m=6, seed=0):
    """Return instances and label sets, each with at least one label."""
    rng = np.random.default_rng(seed)
    X = sparse.csr_array((rng.random((n, d)) * (rng.random((n, d)) < 0.5)).astype(np.float32))
    Y = rng.random((n, m)) < 0.3
    Y[np.arange(n), np.arange(n) % m] = True
    return X, sparse.csr_array(Y)


def broken(matrix):
    """Yield names of errors in index arrays, each with a CSR, CSC or COO array that has the
    error.
    """
    middle = matrix.nnz // 2
    for name, field, place, value in (
        ("index 2e9 at the beginning", "indices", 0, 2_000_000_000),
        ("index negative", "indices", middle, -1),
        ("index width at the end", "indices", -1, matrix.shape[1]),
        ("indptr begins behind 0", "indptr", 0, 1),
        ("indptr falls", "indptr", matrix.shape[0] // 2, 0),
        ("indptr leads far out", "indptr", 1, 2_000_000_000),
        ("indptr ends far out", "indptr", -1, 2_000_000_000),
    ):
        wrong = matrix.copy()
        getattr(wrong, field)[place] = value
        yield name, wrong
    for name, field, change in (
        ("indptr short", "indptr", lambda old: old[:-2]),
        ("indptr long", "indptr", lambda old: np.append(old, old[-1])),
        ("indptr of floats", "indptr", lambda old: old.astype(np.float64)),
        ("indices short", "indices", lambda old: old[: old.size // 2]),
        ("indices of floats", "indices", lambda old: old.astype(np.float64)),
        ("indices unsigned", "indices", lambda old: old.astype(np.uint32)),
        ("indices of 16 bits", "indices", lambda old: old.astype(np.int16)),
        ("indices in two dimensions", "indices", lambda old: old[:, None]),
        ("indices that wrap", "indices", lambda old: old.astype(np.int64) + 2**32),
        ("data short", "data", lambda old: old[: old.size // 2]),
    ):
        wrong = matrix.copy()
        setattr(wrong, field, change(getattr(wrong, field)))
        yield name, wrong
    columns = sparse.csc_array(matrix)
    columns.indices[1] = 2_000_000_000
    yield "CSC index", columns
    entries = sparse.coo_array(matrix)
    entries.coords = (entries.coords[0], np.full_like(entries.coords[1], 2_000_000_000))
    yield "COO column", entries
