"""GFM from marginals and a learned distribution of the number of labels per instance.

Marginals do not describe the dependence between labels. If labels are assumed to be independent,
their number per instance varies too much: with estimates that sum to .69, half of the instances
have no label, even if every instance really has one. GFM's matrix P depends on the dependence only
through the number of labels (gfm2011, Theorem 3.1), whose distribution can be learned from few
instances. The model is ::

    P(y | x) proportional to g(|y|) prod_i p_i(x)^y_i (1 - p_i(x))^(1 - y_i)

with the same weight g(s) of a size s for all instances. It is not from gfm2011, but the published
GFM algorithm maximises its expected F-measure.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.errors import InvalidDataError, shown
from xmlc.core.kernel_cache import njit
from xmlc.inference._positives import count_distribution, count_limit, without_label
from xmlc.inference.distributions import as_marginals, predict_from_marginals
from xmlc.inference.meuf import TIE
from xmlc.kernels.checks import as_numbers
from xmlc.kernels.csr import CSR, Matrix, as_labels, blocks_of_rows, release, some_rows
from xmlc.kernels.heaps import make_heap, pop_first
from xmlc.kernels.sums import in_turn

LARGEST = 255  # all greater sizes share one weight
MOST_INSTANCES = 100_000  # their distributions take 200 MB
ITERATIONS = 300
ENOUGH = 1e-3
# If Z (`best_of_sizes`) is at most RARE times the largest weight, subtractions are too inaccurate
RARE = 1e-3
LEAST = 1e-250  # if Z is at most LEAST times the largest weight, all weights count as equal
# Greater numbers of positives, of a probability below e^-600 = 1e-261, are left out
LOG_LEAST = -600.0


@njit
def best_of_sizes(p, ids, weights, kept):
    """Return size and expected F of the best set of one instance, by GFM on P_is g(s) / Z.

    Z is the sum of the probabilities of all sizes s, each multiplied by its weight g(s).

    The k largest entries of column k of F = PW belong to the k most probable labels. Proof: for p_i
    >= p_j, p_is - p_js = (p_i - p_j) Q(s - 1) >= 0, where Q is the distribution of the number of
    positives other than i and j, and weights multiply both sides alike. So E_k is a sum over the
    first k labels, and the kernel computes one label's column of P at a time. No set of k labels
    exceeds B_k = 2 sum_s s q(s) / (s + k), with q as the weighted distribution of sizes, because
    B_k sums over all labels. It falls with k.

    A column of P follows from the distribution of the number of positives by removing the label, in
    O(S), with an absolute error of a few units of 1e-16, divided by Z. If Z is at most `RARE` times
    the largest weight, the distribution of the other labels is computed from the start instead, in
    O(L S) and without subtractions. ``kept``, uint32, receives the labels of the set.
    """
    pmf = count_distribution(p, count_limit(in_turn(p), p.size))
    sizes = weighted_pmf(pmf, weights)
    most = weights[: p.size + 1].max()
    mass = in_turn(sizes)
    is_rare = mass <= RARE * most
    if is_rare:
        all_sizes = pmf
        pmf = count_distribution(p, count_limit(in_turn(p), p.size, LOG_LEAST))
        sizes = weighted_pmf(pmf, weights)
        mass = in_turn(sizes)
        # The sizes with a weight above 0 are impossible, so all weights are equal
        if not mass > LEAST * most:
            is_rare = False
            pmf = all_sizes
            sizes = pmf
            mass = in_turn(pmf)
    sizes = sizes / mass
    heap = np.empty(p.size, dtype=np.int64)
    make_heap(heap, p, ids)
    prefix = np.zeros(pmf.size)
    rest = np.empty(pmf.size - 1)
    best_k = 0
    best = sizes[0]  # of the empty set, then of the first k labels: 2 sum_s prefix[s] / (s + k)
    for k in range(1, p.size + 1):
        label = pop_first(heap, p.size - k + 1, p, ids)
        kept[k - 1] = ids[label]
        if is_rare:
            rest = count_distribution(np.delete(p, label), pmf.size - 2)
        else:
            without_label(pmf, p[label], rest)
        for s in range(1, pmf.size):
            if pmf[s] > 0.0:
                prefix[s] += p[label] * rest[s - 1] * (sizes[s] / pmf[s])
        value = bound = 0.0
        for s in range(1, sizes.size):
            value += 2.0 * prefix[s] / (s + k)
            bound += 2.0 * s * sizes[s] / (s + k)
        if value > best + TIE:
            best_k = k
            best = value
        if bound <= best + TIE:
            break
    return best_k, best


@njit
def weighted_pmf(pmf, weights):
    """Return pmf[s] weights[s] for each number s, with the last weight for greater numbers."""
    result = np.empty(pmf.size)
    for s in range(pmf.size):
        result[s] = pmf[s] * weights[min(s, weights.size - 1)]
    return result


def fit_size_weights(marginals: Matrix, Y: Matrix) -> np.ndarray:
    """Learn the weights g(s) that maximise the likelihood of the sizes of label sets.

    Each iteration multiplies g(s) by the share of instances with s labels, and divides it by the
    mean probability of s labels under the current weights. The likelihood never falls, and is
    maximal when the weights stop changing (iterative scaling; Darroch and Ratcliff, 1972).

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
        Estimates for instances that the model was not trained on.
    Y : boolean CSR, shape (n, m)
        Their label sets, of which only the first 100,000 are used.

    Returns
    -------
    ndarray of float64, shape (S,)
        Weights of sizes from 0 to S - 1, at most 1, and 0 if no instance has this size. The last
        one also applies to all greater sizes.

    Raises
    ------
    XmlcError
        If there are no instances, or the shapes differ.

    See Also
    --------
    gfm_sizes : Infers label sets with these weights.

    Examples
    --------
    >>> from xmlc.inference import fit_size_weights
    >>> fit_size_weights([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]], [[1, 0, 0], [1, 1, 0]]).round(2)
    array([0.  , 0.38, 1.  , 0.  ])
    """
    p = as_marginals(marginals)
    Y = as_labels(Y)
    if p.shape != Y.shape or Y.shape[0] == 0:
        shapes = f"shapes {p.shape} and {Y.shape}"
        raise InvalidDataError(
            f"marginals and Y: found {shapes}, expected equal shapes with at least one row"
        )
    found = np.diff(Y.indptr)[:MOST_INSTANCES]
    n_sizes = min(int(found.max()), LARGEST) + 2
    shares = np.bincount(np.minimum(found, n_sizes - 1), minlength=n_sizes) / found.size
    pmfs = np.zeros((found.size, n_sizes))
    first = 0
    for (part,) in blocks_of_rows(some_rows(p, 0, found.size)):
        rows = slice(first, first + part.shape[0])
        size_pmfs(part.indptr.astype(np.int64), part.data.astype(np.float64), pmfs[rows])
        first = rows.stop
        release(p)
    weights = np.ones(n_sizes)
    for _ in range(ITERATIONS):
        expected = weights * shares_of_sizes(pmfs, weights) / found.size
        ratio = np.divide(shares, expected, out=np.zeros(n_sizes), where=expected > 0)
        weights *= ratio
        if not weights.any():
            return np.ones(n_sizes)
        weights /= weights.max()
        if np.abs(ratio[weights > 0] - 1).max() < ENOUGH:
            break
    return weights


def gfm_sizes(
    marginals: Matrix, size_weights: np.ndarray, n_jobs: int | None = None
) -> tuple[CSR, np.ndarray]:
    """Find the label set with the greatest expected F-measure for weighted numbers of labels.

    The result of GFM (gfm2011, Algorithm 1) is exact for the distribution of this module, in the
    form of `xmlc.inference.gfm` and with the same choice among equal values. With equal weights, it
    is that of `gfm` for independent labels, and so is the set of an instance whose possible sizes
    all have the weight 0.

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
    size_weights : ndarray of float64, shape (S,)
        Weights from `fit_size_weights`.
    n_jobs : int or None
        As in `xmlc.inference.gfm`.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)

    Raises
    ------
    XmlcError
        If an entry is not a probability, or a weight is negative or not finite.

    See Also
    --------
    fit_size_weights : Learns the weights.
    meuf : For independent labels.

    Examples
    --------
    >>> from xmlc.inference import gfm_sizes
    >>> Y_hat, expected_f = gfm_sizes([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]], [0.0, 1.0, 0.0, 0.0])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [1, 0, 0]]
    >>> expected_f.round(3)
    array([0.892, 0.529])
    """
    weights = as_numbers(size_weights, "size_weights")
    if weights.ndim != 1 or weights.size == 0 or not (np.isfinite(weights) & (weights >= 0)).all():
        expected = (
            "expected one or more finite numbers of at least 0. Learn weights with "
            "fit_size_weights."
        )
        raise InvalidDataError(f"size_weights: found {shown(size_weights)}, {expected}")
    # A largest weight below 1 avoids overflow
    weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    return predict_from_marginals(gfm_sizes_rows, marginals, n_jobs, weights)


@njit
def gfm_sizes_rows(indptr, labels, marginals, weights, counts, values):
    """Run `best_of_sizes` on a block of instances, like `meuf_rows`."""
    kept = np.empty(labels.size, dtype=np.uint32)
    end = 0
    for i in range(counts.size):
        own = slice(indptr[i], indptr[i + 1])
        counts[i], values[i] = best_of_sizes(marginals[own], labels[own], weights, kept[end:])
        end += counts[i]
    return kept[:end]


@njit
def size_pmfs(indptr, marginals, pmfs):
    """Write each instance's distribution of the number of positives, for independent labels.

    The instances are CSR, with ``indptr[0] = 0``. The last column of ``pmfs``, float64 (n, S), is
    for S - 1 or more positives.
    """
    last = pmfs.shape[1] - 1
    for i in range(pmfs.shape[0]):
        p = marginals[indptr[i] : indptr[i + 1]]
        limit = max(count_limit(in_turn(p), p.size), min(last, p.size))
        pmf = count_distribution(p, limit)
        for s in range(pmf.size):
            pmfs[i, min(s, last)] += pmf[s]


@njit
def shares_of_sizes(pmfs, weights):
    """Return the sum over instances of pmf[s] / sum_t pmf[t] weights[t] for each size s.

    An instance whose denominator is 0 adds nothing. A denominator has four partial sums, s modulo
    4, which are added as (0 + 1) + (2 + 3), and instances are added in their order.
    """
    n_sizes = weights.size
    shares = np.zeros(n_sizes)
    lanes = np.empty(4)
    for i in range(pmfs.shape[0]):
        lanes[:] = 0.0
        for s in range(n_sizes):
            lanes[s & 3] += pmfs[i, s] * weights[s]
        total = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
        if total > 0.0:
            scale = 1.0 / total
            for s in range(n_sizes):
                shares[s] += pmfs[i, s] * scale
    return shares
