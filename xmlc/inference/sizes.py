"""GFM from marginals and from how many labels instances have.

Marginals alone say nothing of how labels depend on each other, and taken as independent they make the number of labels
vary too much: an estimated 0.69 labels per instance, say, leave half of the instances without any, in a set where each
has at least one. The number of labels is the one dependence that GFM's matrix P is about (gfm2011, Theorem 3.1), and it
can be learned from few instances: let

    P(y | x) proportional to g(|y|) prod_i p_i(x)^y_i (1 - p_i(x))^(1 - y_i),

with one weight g(s) for each size s and all instances. This is not in the paper; what GFM does with it is.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.csr import as_labels
from xmlc.errors import XmlcError
from xmlc.inference._kernels.sizes import gfm_sizes_rows, shares_of_sizes, size_laws
from xmlc.inference.distributions import as_marginals
from xmlc.inference.predictions import predict_from_marginals

LARGEST = 255  # sizes above share one weight
MOST_INSTANCES = 100_000  # that weights are learned from: 200 MB for all their distributions
ITERATIONS, ENOUGH = 300, 1e-3


def fit_size_weights(marginals: object, Y: object) -> np.ndarray:
    """Learn the weights g(s) by maximum likelihood of the label sets' sizes.

    Every iteration multiplies g(s) with the share of instances that have s labels over the mean probability of it under
    the present weights; the likelihood never falls, and the weights at which it stands still are its maximum (iterative
    scaling; Darroch and Ratcliff, 1972).

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
        Of instances that the model was not trained on.
    Y : boolean CSR, shape (n, m)
        Their label sets. Of more than 100,000 instances the first are taken.

    Returns
    -------
    ndarray of float64, shape (S,)
        The weights of sizes 0 .. S - 1, the largest 1; the last is that of all larger sizes too. A size that no
        instance has gets 0.

    Raises
    ------
    XmlcError
        There is no instance, or the shapes differ.
    """
    p, Y = as_marginals(marginals), as_labels(Y)
    if p.shape != Y.shape or Y.shape[0] == 0:
        raise XmlcError(f"marginals of shape {p.shape}, label sets {Y.shape}; expected the same, and an instance")
    p, found = p[:MOST_INSTANCES], np.diff(Y.indptr)[:MOST_INSTANCES]
    n_sizes = min(int(found.max()), LARGEST) + 2
    shares = np.bincount(np.minimum(found, n_sizes - 1), minlength=n_sizes) / found.size
    laws = np.empty((found.size, n_sizes))
    size_laws(p.indptr.astype(np.int64), p.data.astype(np.float64), laws)
    weights = np.ones(n_sizes)
    for _ in range(ITERATIONS):
        expected = weights * shares_of_sizes(laws, weights) / found.size
        ratio = np.divide(shares, expected, out=np.zeros(n_sizes), where=expected > 0)
        weights *= ratio
        weights /= weights.max() if weights.max() > 0 else 1.0
        if np.abs(ratio[weights > 0] - 1).max(initial=0.0) < ENOUGH:
            break
    return weights if weights.max() > 0 else np.ones(n_sizes)


def gfm_sizes(
    marginals: object, size_weights: np.ndarray, n_jobs: int | None = None
) -> tuple[sparse.csr_array, np.ndarray]:
    """Find for each instance the label set of greatest expected F under the module's distribution.

    Exact, with ties as in `gfm`; with equal weights it is `gfm` of independent labels. An instance of which no size has
    both mass and weight counts as one of independent labels.

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
    size_weights : ndarray of float64, shape (S,)
        As `fit_size_weights` gives them.
    n_jobs : int or None
        As for `xmlc.inference.gfm`; so is the result.

    Raises
    ------
    XmlcError
        An entry is no probability, or a weight is negative or not finite.
    """
    weights = np.ascontiguousarray(size_weights, dtype=np.float64)
    if weights.ndim != 1 or weights.size == 0 or not (np.isfinite(weights) & (weights >= 0)).all():
        raise XmlcError("size_weights: expected at least one finite number, none negative; fit_size_weights gives them")
    return predict_from_marginals(gfm_sizes_rows, marginals, n_jobs, weights)
