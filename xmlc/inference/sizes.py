"""Infer label sets by GFM from marginals and a learned distribution of the number of labels per instance.

The marginals of labels do not describe the dependence between the labels. If labels are assumed to be independent, the
number of labels per instance varies too much. For example, if estimates sum to 0.69, half of the instances have no
label under independence, even if every instance has one. GFM's matrix P depends on the dependence between labels only
through the number of labels (gfm2011, Theorem 3.1). Few instances suffice to learn the distribution of the number of
labels. The model of this module is

    P(y | x) proportional to g(|y|) prod_i p_i(x)^y_i (1 - p_i(x))^(1 - y_i).

The weight g(s) of a size s is the same for all instances. The model is not from gfm2011, but the published GFM
algorithm maximises the expected F-measure of this model.
"""

from __future__ import annotations

from math import ldexp

import numpy as np

from xmlc.core.errors import InvalidDataError, shown
from xmlc.core.kernel_cache import njit
from xmlc.inference._positives import LOG_NEGLIGIBLE, count_distribution, count_limit, without_label
from xmlc.inference._selection import TIE
from xmlc.inference.distributions import as_marginals, predict_from_marginals
from xmlc.kernels.checks import as_numbers
from xmlc.kernels.csr import CSR, Matrix, as_labels, blocks_of_rows, release, some_rows
from xmlc.kernels.float64 import log
from xmlc.kernels.heaps import make_heap, pop_first
from xmlc.kernels.sums import in_turn

LARGEST = 255  # All sizes above LARGEST share one weight.
MOST_INSTANCES = 100_000  # The distributions of 100,000 instances take 200 MB of memory.
ITERATIONS, ENOUGH = 300, 1e-3
RARE = 1e-3  # If Z (`best_of_sizes`) is at most RARE times the largest weight, subtractions are too inaccurate.
LEAST = 1e-250  # If Z (`best_of_sizes`) is at most LEAST times the largest weight, `reach` scales the odds.
RANKED = 12  # `best_of_rare_sizes` first ranks RANKED labels, and then twice as many labels each time.
MOST_DOUBLINGS = 1000  # `reach` doubles or halves the odds at most MOST_DOUBLINGS times.
LN2 = 0.6931471805599453


def fit_size_weights(marginals: Matrix, Y: Matrix) -> np.ndarray:
    """Learn the weights g(s) that maximise the likelihood of the sizes of label sets.

    Each iteration multiplies g(s) by the share of instances with s labels, and divides g(s) by the mean probability of
    s labels under the current weights. The likelihood never falls, and is maximal when the weights stop changing
    (iterative scaling; Darroch and Ratcliff, 1972). Sizes with a probability below e^-40 are left out, unless an
    instance has such a size.

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
        Estimates for instances that the model was not trained on.
    Y : boolean CSR, shape (n, m)
        Label sets of the instances. The function uses only the first 100,000 instances.

    Returns
    -------
    ndarray of float64, shape (S,)
        The weights of sizes from 0 to S - 1, scaled so that the largest weight is 1. The last weight also applies to
        all sizes above S - 1. If no instance has s labels, g(s) is 0.

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
    p, Y = as_marginals(marginals), as_labels(Y)
    if p.shape != Y.shape or Y.shape[0] == 0:
        shapes = f"shapes {p.shape} and {Y.shape}"
        raise InvalidDataError(f"marginals and Y: found {shapes}, expected equal shapes with at least one row")
    found = np.diff(Y.indptr)[:MOST_INSTANCES]
    n_sizes = min(int(found.max()), LARGEST) + 2
    shares = np.bincount(np.minimum(found, n_sizes - 1), minlength=n_sizes) / found.size
    pmfs = np.empty((found.size, n_sizes))
    for whole in (False, True):
        first = n_cut = 0
        for (part,) in blocks_of_rows(some_rows(p, 0, found.size)):
            rows = slice(first, first + part.shape[0])
            arrays = part.indptr.astype(np.int64), part.data.astype(np.float64), found[rows].astype(np.int64)
            n_cut += size_pmfs(*arrays, whole, pmfs[rows])
            first = rows.stop
            release(p)
        if n_cut == 0:
            break
    weights = np.ones(n_sizes)
    for _ in range(ITERATIONS):
        expected = weights * shares_of_sizes(pmfs, weights) / found.size
        ratio = np.divide(shares, expected, out=np.zeros(n_sizes), where=expected > 0)
        weights *= ratio
        weights /= weights.max() if weights.max() > 0 else 1.0
        if np.abs(ratio[weights > 0] - 1).max(initial=0.0) < ENOUGH:
            break
    return weights if weights.max() > 0 else np.ones(n_sizes)


def gfm_sizes(marginals: Matrix, size_weights: np.ndarray, n_jobs: int | None = None) -> tuple[CSR, np.ndarray]:
    """Find for each instance the label set with the greatest expected F-measure under this module's distribution.

    No other set has a higher expected F-measure than the returned set. The form of the result and the choice among
    equal values are as in `xmlc.inference.gfm`. With equal weights, the result is the same as the result of `gfm` for
    independent labels. If all possible sizes of an instance have the weight 0, the labels of this instance are treated
    as independent.

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
        expected = "expected one or more finite numbers of at least 0. Learn weights with fit_size_weights."
        raise InvalidDataError(f"size_weights: found {shown(size_weights)}, {expected}")
    weights = np.ldexp(weights, -int(np.frexp(weights.max())[1]))  # Scaling the largest weight below 1 avoids overflow.
    return predict_from_marginals(gfm_sizes_rows, marginals, n_jobs, weights)


# The kernels below treat labels as independent, except that the number of labels has a learned distribution.


@njit(cache=True, nogil=True)
def add_label(pmf, positive, negative):
    """Add a label in place to a distribution of the number of positives, float64 (size,), truncated above size - 1."""
    for r in range(pmf.size - 1, 0, -1):
        pmf[r] = pmf[r] * negative + pmf[r - 1] * positive
    pmf[0] *= negative


@njit(cache=True, nogil=True)
def convolve(pmf, other, result):
    """Write the distribution of the sum of two independent numbers of positives to ``result``.

    All arrays are float64 (size,). The probabilities of sums above size - 1 are dropped.
    """
    result[:] = 0.0
    for a in range(pmf.size):
        if pmf[a] > 0.0:
            for r in range(pmf.size - a):
                result[a + r] += pmf[a] * other[r]


@njit(cache=True, nogil=True)
def with_odds(p, e):
    """Return p and 1 - p after multiplying the odds p / (1 - p) by 2^e, accurate to a few rounding errors."""
    positive, negative, factor = np.empty_like(p), 1.0 - p, ldexp(1.0, np.int32(e))
    for i in range(p.size):
        both = p[i] * factor + negative[i]
        positive[i], negative[i] = p[i] * factor / both, negative[i] / both
    return positive, negative


@njit(cache=True, nogil=True)
def size_pmfs(indptr, marginals, found, whole, pmfs):
    """Write each instance's distribution of the number of positives, for independent labels.

    Parameters
    ----------
    indptr : int64 (n + 1,)
        Start of each instance in ``marginals``, from 0 on.
    marginals : float64
        Marginals of all instances, instance by instance.
    found : int64 (n,)
        Number of true labels of each instance.
    whole : bool
        Whether to write the probabilities of sizes above `count_limit`, too.
    pmfs : float64 (n, S)
        Receives the distributions. The last column of ``pmfs`` is the probability of S - 1 or more positives.

    Returns
    -------
    n_cut : int
        Number of instances with a possible size ``found[i]`` that is beyond the end of the distribution in ``pmfs``.
    """
    pmfs[:], n_cut = 0.0, 0
    for i in range(pmfs.shape[0]):
        p = marginals[indptr[i] : indptr[i + 1]]
        limit, largest = count_limit(in_turn(p), p.size), min(pmfs.shape[1] - 1, p.size)
        if whole:
            limit = max(limit, largest)
        n_cut += limit < min(found[i], largest)
        pmf = count_distribution(p, limit)
        for s in range(pmf.size):
            pmfs[i, min(s, pmfs.shape[1] - 1)] += pmf[s]
    return n_cut


@njit(cache=True, nogil=True)
def shares_of_sizes(pmfs, weights):
    """Return for each size s the sum of pmf[s] / sum_t pmf[t] weights[t] over all instances, float64 (S,).

    An instance whose denominator is 0 adds nothing to the sums. The denominator of each instance is computed in four
    partial sums, which are added as (0 + 1) + (2 + 3). The term of size s is added to partial sum s modulo 4. The sum
    over instances follows the order of the instances.

    Parameters
    ----------
    pmfs : float64 (n, S)
        Distributions of the number of positives, from `size_pmfs`.
    weights : float64 (S,)
        Weights of the sizes.
    """
    n_sizes = weights.size
    shares, lanes = np.zeros(n_sizes), np.empty(4)
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


@njit(cache=True, nogil=True)
def weighted_pmf(pmf, weights, e, size):
    """Return pmf[s] weights[s] 2^(e (size - s)) for each number s of positives, float64 (R,).

    Parameters
    ----------
    pmf : float64 (R,)
        Distribution of the number of positives.
    weights : float64 (S,)
        Weights of the sizes. The last weight also applies to all sizes above S - 1.
    e, size : int
        Results of `reach`, or 0 if the marginals are unchanged.
    """
    result = np.empty(pmf.size)
    for s in range(pmf.size):
        result[s] = pmf[s] * weights[min(s, weights.size - 1)]
        if e != 0:
            result[s] = ldexp(result[s], np.int32(e * (size - s)))
    return result


@njit(cache=True, nogil=True)
def reach(p, weights):
    """Find a probable size under the weights, and a factor of all odds that moves the mean number of positives near it.

    If all odds are multiplied by 2^e, the probability of s positives is multiplied by 2^(es) / K(e). The factor K(e)
    does not depend on s. The weighted distribution of sizes does not change if the weight of s is divided by 2^(es).
    The probability of a size falls with the distance from the mean. The kernel therefore tries only two sizes: the
    nearest size with a weight above 0 on each side of the mean. The kernel compares the two sizes by the weight of s
    times K(e) 2^(-es), an upper bound of the probability of s (Chernoff).

    Parameters
    ----------
    p : float64 (L,)
        Marginals of one instance.
    weights : float64 (S,)
        Weights of the sizes.

    Returns
    -------
    e : int
        Exponent of the factor 2^e.
    size : int
        The size, or -1 if every size with a weight above 0 is impossible.
    """
    n, mean, certain = p.size, in_turn(p), 0
    for i in range(n):
        certain += p[i] == 1.0
    below = above = -1
    for s in range(certain, n + 1):
        if weights[min(s, weights.size - 1)] > 0.0:
            if s <= mean:
                below = s
            elif above < 0:
                above = s
    best_e, best_size, best = 0, -1, -np.inf
    for size in (below, above):
        if size < 0:
            continue
        low, high, target = -MOST_DOUBLINGS, MOST_DOUBLINGS, max(min(np.float64(size), n - 0.5), certain + 0.5)
        while low < high:
            middle = (low + high) // 2
            if in_turn(with_odds(p, middle)[0]) >= target:
                high = middle
            else:
                low = middle + 1
        bound, factor = log(weights[min(size, weights.size - 1)]) - low * size * LN2, ldexp(1.0, np.int32(low))
        for i in range(n):
            bound += log(p[i] * factor + (1.0 - p[i]))
        if bound > best:
            best_e, best_size, best = low, size, bound
    return best_e, best_size


@njit(cache=True, nogil=True)
def best_of_sizes(p, ids, weights, heap):
    """Maximise the expected F-measure of one instance with weighted sizes, by GFM on P_is g(s) / Z.

    Z is the sum of the probabilities of all sizes s, each multiplied by its weight g(s).

    The k largest entries of column k of F = PW belong to the k most probable labels. Proof: for p_i >= p_j, p_is - p_js
    = (p_i - p_j) Q(s - 1) >= 0. Here Q is the distribution of the number of positives other than i and j. Weights do
    not change the order of p_is and p_js, because both are multiplied by the same weight. E_k is therefore a sum over
    the first k labels, and the kernel computes one label's column of P at a time. Computing a column of P takes O(S),
    and computing the distribution of the number of positives takes O(L S). No set of k labels exceeds B_k = 2 sum_s s
    q(s) / (s + k). Here q is the weighted distribution of sizes. B_k sums over all labels instead of k labels, and
    falls with k.

    The absolute error of a column of P is a few units of 1e-16, divided by Z. If Z is at most `RARE` times the largest
    weight, the kernel calls `best_of_rare_sizes`.

    Parameters
    ----------
    p : float64 (L,)
        Marginals.
    ids : uint32 (L,)
        Label ids.
    weights : float64 (S,)
        Weights of the sizes.
    heap : int64 (L,)
        Receives the ranking. The last k entries are the first k labels of the ranking, in reverse order.

    Returns
    -------
    k : int
        Size of the best set.
    value : float64
        Expected F-measure of the best set.
    """
    pmf = count_distribution(p, count_limit(in_turn(p), p.size))
    sizes = weighted_pmf(pmf, weights, 0, 0)
    make_heap(heap, p, ids)
    mass, most = in_turn(sizes), weights[: p.size + 1].max()
    if mass <= RARE * most:
        e = size = 0
        if not mass > LEAST * most:
            e, size = reach(p, weights)
            mass = weights[min(max(size, 0), weights.size - 1)]
        if size >= 0:
            # If e < 0, no size is ignored, because `weighted_pmf` multiplies larger sizes by greater factors.
            least = LOG_NEGLIGIBLE + log(mass) - log(most) if e >= 0 else -np.inf
            return best_of_rare_sizes(p, ids, weights, e, size, least, heap)
        sizes, mass = pmf, in_turn(pmf)
    sizes = sizes / mass
    prefix, rest = np.zeros(pmf.size), np.empty(pmf.size - 1)
    best_k, best = 0, sizes[0]
    for k in range(1, p.size + 1):
        place = pop_first(heap, p.size - k + 1, p, ids)
        without_label(pmf, p[place], rest)
        for s in range(1, pmf.size):
            if pmf[s] > 0.0:
                prefix[s] += p[place] * rest[s - 1] * (sizes[s] / pmf[s])
        value, bound = value_and_bound(prefix, sizes, k)
        if value > best + TIE:
            best_k, best = k, value
        if bound <= best + TIE:
            break
    return best_k, best


@njit(cache=True, nogil=True)
def best_of_rare_sizes(p, ids, weights, e, size, least, heap):
    """Compute the result of `best_of_sizes` without subtractions.

    The subtractions of `best_of_sizes` are inaccurate if all sizes with a weight above 0 are improbable.

    The odds of all labels are multiplied by 2^e. Let A_i be the distribution of the number of positives among the first
    i labels of the ranking, and B_i the distribution among all other labels. Then p_is is p_i times the sum over a of
    A_(i-1)(a) B_i(s - 1 - a). All terms of the sum for p_is are positive, so the relative errors are a few rounding
    errors. Time is O(L S log k + k S^2). Here S is the number of sizes that are not ignored.

    Parameters
    ----------
    p, ids, weights
        As in `best_of_sizes`.
    e, size : int
        Results of `reach`, or 0 if the marginals are unchanged.
    least : float64
        A size s is ignored if s or more positives have a probability below e^least. If ``least`` is -inf, no size is
        ignored.
    heap : int64 (L,)
        Heap from `make_heap`. Receives the ranking of labels, as in `best_of_sizes`.
    """
    positive, negative = with_odds(p, e)
    n = last = p.size
    while weights[min(last, weights.size - 1)] == 0.0:
        last -= 1
    last = max(min(last, count_limit(in_turn(positive), n, least)), size)
    start, stop = 0, min(RANKED, n)
    for rank in range(stop):
        pop_first(heap, n - rank, p, ids)
    behind = pmfs_behind(positive, negative, heap, start, stop, last)
    pmf, sizes = behind[0], weighted_pmf(behind[0], weights, e, size)
    sizes /= in_turn(sizes)
    hits, rest, prefix = np.zeros(last + 1), np.empty(last + 1), np.zeros(last + 1)
    hits[0], best_k, best = 1.0, 0, sizes[0]
    for k in range(1, n + 1):
        if k > stop:
            start, stop = stop, min(2 * stop, n)
            for rank in range(start, stop):
                pop_first(heap, n - rank, p, ids)
            behind = pmfs_behind(positive, negative, heap, start, stop, last)
        place = heap[n - k]
        convolve(hits, behind[k - start], rest)
        add_label(hits, positive[place], negative[place])
        for s in range(1, last + 1):
            if sizes[s] > 0.0:
                prefix[s] += sizes[s] * (positive[place] * rest[s - 1] / pmf[s])
        value, bound = value_and_bound(prefix, sizes, k)
        if value > best + TIE:
            best_k, best = k, value
        if bound <= best + TIE:
            break
    return best_k, best


@njit(cache=True, nogil=True)
def pmfs_behind(positive, negative, heap, start, stop, last):
    """Return for each i the distribution of the number of positives among all labels except the first i of the ranking.

    Parameters
    ----------
    positive : float64 (L,)
        Probability of each label.
    negative : float64 (L,)
        One minus the probability of each label.
    heap : int64 (L,)
        The last ``stop`` entries are the first labels of the ranking, in reverse order.
    start, stop : int
        The smallest and the largest number i of labels that are left out.
    last : int
        Largest number of positives.

    Returns
    -------
    float64 (stop - start + 1, last + 1), one row for each i
    """
    n, behind = heap.size, np.zeros((stop - start + 1, last + 1))
    behind[stop - start, 0] = 1.0
    for place in heap[: n - stop]:
        add_label(behind[stop - start], positive[place], negative[place])
    for row in range(stop - start - 1, -1, -1):
        place = heap[n - 1 - start - row]
        behind[row] = behind[row + 1]
        add_label(behind[row], positive[place], negative[place])
    return behind


@njit(cache=True, nogil=True)
def value_and_bound(prefix, sizes, k):
    """Return E_k = 2 sum_s prefix[s] / (s + k) and its bound B_k = 2 sum_s s sizes[s] / (s + k)."""
    value = bound = 0.0
    for s in range(1, sizes.size):
        value += 2.0 * prefix[s] / (s + k)
        bound += 2.0 * s * sizes[s] / (s + k)
    return value, bound


@njit(cache=True, nogil=True)
def gfm_sizes_rows(indptr, labels, marginals, weights, counts, values):
    """Run `best_of_sizes` on every instance of a block, and return the labels of the best sets, uint32.

    Parameters
    ----------
    indptr, labels, marginals, counts, values
        See `xmlc.inference._independent.meuf_rows`.
    weights : float64 (S,)
        Weights of the sizes.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        heap = np.empty(p.size, dtype=np.int64)
        counts[i], values[i] = best_of_sizes(p, ids, weights, heap)
        for rank in range(counts[i]):
            kept[place + rank] = ids[heap[p.size - 1 - rank]]
        place += counts[i]
    return kept[:place]
