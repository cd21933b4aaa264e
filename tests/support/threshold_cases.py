"""Make small random estimates with ties, and compute the kernels' results in plain Python."""

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

CASES = {"n": st.integers(1, 14), "m": st.integers(1, 7), "seed": st.integers(0, 9999)}


def random_case(n, m, seed, levels=6):
    """Return estimates on few levels, so that ties are common.

    Some estimates are missing, and some labels have no positive instances.
    """
    rng = np.random.default_rng(seed)
    estimates = rng.integers(0, levels + 1, size=(n, m)).astype(np.float32) / np.float32(levels)
    Y = rng.random((n, m)) < 0.1 + 0.6 * estimates
    Y[:, rng.random(m) < 0.2] = False
    return sparse.csr_array(estimates), sparse.csr_array(Y)


def f_of(truth, predicted):
    """Return F of one label with 0/0 = 1."""
    total = truth.sum() + predicted.sum()
    return 2 * (truth & predicted).sum() / total if total else 1.0


def candidate_sets(estimates):
    """Return the sets that `>` can predict with a common threshold, as masks, from the empty set
    on, ties together.
    """
    values = np.unique(estimates[estimates > 0])[::-1]
    return [estimates >= value for value in (np.inf, *values)]


def row_wise_ofo(spe, Y, a, b, lower):
    """Return the thresholds of Algorithm 2 as printed, instance by instance."""
    a = np.full(spe.shape[1], a, dtype=float)
    b = np.full(spe.shape[1], b, dtype=float)
    tau = np.maximum((a / b).astype(np.float32), lower)
    for x, y in zip(spe.toarray(), Y.toarray()):
        predicted = (x > tau) & (x > 0)
        a += y & predicted
        b += y.astype(int) + predicted
        tau = np.maximum((a / b).astype(np.float32), lower)
    return tau
