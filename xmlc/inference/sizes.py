"""Infer label sets by GFM from marginals and a learned distribution of the number of labels per
instance.

The marginals of labels do not describe the dependence between the labels. If labels are assumed to
be independent, the number of labels per instance varies too much. For example, if estimates sum to
0.69, half of the instances have no label under independence, even if every instance has one. GFM's
matrix P depends on the dependence between labels only through the number of labels (gfm2011,
Theorem 3.1). Few instances suffice to learn the distribution of the number of labels. The model of
this module is

    P(y | x) proportional to g(|y|) prod_i p_i(x)^y_i (1 - p_i(x))^(1 - y_i).

The weight g(s) of a size s is the same for all instances. The model is not from gfm2011, but the
published GFM algorithm maximises the expected F-measure of this model.
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

LARGEST = 255  # All sizes above LARGEST share one weight.
MOST_INSTANCES = 100_000  # The distributions of 100,000 instances take 200 MB of memory.
ITERATIONS = 300
ENOUGH = 1e-3
# If Z (`best_of_sizes`) is at most RARE times the largest weight, subtractions are too inaccurate.
RARE = 1e-3
LEAST = 1e-250  # If Z is at most LEAST times the largest weight, all weights are regarded as equal.
# Greater numbers of positives have a probability below e^-600 = 1e-261 and are left out.
LOG_LEAST = -600.0


@njit
def best_of_sizes(p, ids, weights, kept):
    """Maximise the expected F-measure of one instance with weighted sizes, by GFM on P_is g(s) / Z.

    Z is the sum of the probabilities of all sizes s, each multiplied by its weight g(s).

    The k largest entries of column k of F = PW belong to the k most probable labels. Proof: for p_i
    >= p_j, p_is - p_js = (p_i - p_j) Q(s - 1) >= 0. Here Q is the distribution of the number of
    positives other than i and j. Weights do not change the order of p_is and p_js, because both are
    multiplied by the same weight. E_k is therefore a sum over the first k labels, and the kernel
    computes one label's column of P at a time. No set of k labels exceeds B_k = 2 sum_s s q(s) / (s
    + k). Here q is the weighted distribution of sizes. B_k sums over all labels instead of k
    labels, and falls with k.

    A column of P follows from the distribution of the number of positives by removing the label, in
    O(S). Its absolute error is a few units of 1e-16, divided by Z. If Z is at most `RARE` times the
    largest weight, the distribution of the other labels is computed anew, in O(L S) and without
    subtractions.

    Parameters
    ----------
    p : float64 (L,)
        Marginals.
    ids : uint32 (L,)
        Label ids.
    weights : float64 (S,)
        Weights of the sizes.
    kept : uint32, at least as long as the set
        Receives the labels of the best set.

    Returns
    -------
    k : int
        Size of the best set.
    value : float64
        Expected F-measure of the best set.
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
        # The sizes with a weight above 0 are impossible, so all weights are equal.
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
    """Return pmf[s] weights[s] for each number s of positives.

    The last weight applies to all greater numbers.
    """
    result = np.empty(pmf.size)
    for s in range(pmf.size):
        result[s] = pmf[s] * weights[min(s, weights.size - 1)]
    return result


def fit_size_weights(marginals: Matrix, Y: Matrix) -> np.ndarray:
    """Learn the weights g(s) that maximise the likelihood of the sizes of label sets.

    Each iteration multiplies g(s) by the share of instances with s labels, and divides g(s) by the
    mean probability of s labels under the current weights. The likelihood never falls, and is
    maximal when the weights stop changing (iterative scaling; Darroch and Ratcliff, 1972).

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
        Estimates for instances that the model was not trained on.
    Y : boolean CSR, shape (n, m)
        Label sets of the instances. The function uses only the first 100,000 instances.

    Returns
    -------
    ndarray of float64, shape (S,)
        The weights of sizes from 0 to S - 1, scaled so that the largest weight is 1. The last
        weight also applies to all sizes above S - 1. If no instance has s labels, g(s) is 0.

    Raises
    ------
    XmlcError
        There are no instances, or the shapes differ.

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
    """Find for each instance the label set with the greatest expected F-measure under this module's
    distribution.

    No other set has a higher expected F-measure than the returned set. The form of the result and
    the choice among equal values are as in `xmlc.inference.gfm`. With equal weights, the result is
    the same as the result of `gfm` for independent labels. If all possible sizes of an instance
    have the weight 0, the labels of this instance are treated as independent.

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
    size_weights : ndarray of float64, shape (S,)
        Weights from `fit_size_weights`.
    n_jobs : int or None
        As in `xmlc.inference.gfm`.

    Raises
    ------
    XmlcError
        An entry is not a probability, or a weight is negative or not finite.

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
    # Scaling the largest weight below 1 avoids overflow.
    weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))
    return predict_from_marginals(gfm_sizes_rows, marginals, n_jobs, weights)


@njit
def gfm_sizes_rows(indptr, labels, marginals, weights, counts, values):
    """Run `best_of_sizes` on every instance of a block, and return the labels of the best sets,
    uint32.

    Parameters
    ----------
    indptr, labels, marginals, counts, values
        See `xmlc.inference.meuf.meuf_rows`.
    weights : float64 (S,)
        Weights of the sizes.
    """
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

    Parameters
    ----------
    indptr : int64 (n + 1,)
        Start of each instance in ``marginals``, from 0 on.
    marginals : float64
        Marginals of all instances, instance by instance.
    pmfs : float64 (n, S)
        Receives the distributions. The last column is the probability of S - 1 or more positives.
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
    """Return for each size s the sum of pmf[s] / sum_t pmf[t] weights[t] over all instances,
    float64 (S,).

    An instance whose denominator is 0 adds nothing to the sums. The denominator of each instance is
    computed in four partial sums, which are added as (0 + 1) + (2 + 3). The term of size s is added
    to partial sum s modulo 4. The sum over instances follows the order of the instances.

    Parameters
    ----------
    pmfs : float64 (n, S)
        Distributions of the number of positives, from `size_pmfs`.
    weights : float64 (S,)
        Weights of the sizes.
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
