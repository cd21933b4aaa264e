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
    """Return every set {estimate >= v} and the empty set, as masks."""
    return [estimates >= v for v in np.unique(estimates[estimates > 0])] + [
        np.zeros(estimates.size, dtype=bool)
    ]


def row_wise_ofo(spe, Y, a, b, lower):
    """Return the thresholds of Algorithm 2 as printed: instance by instance, over labels in truth
    or prediction.
    """
    estimates = spe.toarray()
    truth = Y.toarray()
    a = np.full(spe.shape[1], float(a))
    b = np.full(spe.shape[1], float(b))
    tau = np.maximum((a / b).astype(np.float32), lower)
    for x, y in zip(estimates, truth):
        predicted = (x > tau) & (x > 0)
        for j in np.flatnonzero(y | predicted):
            a[j] += y[j] and predicted[j]
            b[j] += int(y[j]) + int(predicted[j])
            tau[j] = max(np.float32(a[j] / b[j]), lower[j])
    return tau
