"""Exact maximisation of the expected F-measure of independent labels, for a block of instances: kernels.

With independent labels the best set of size k holds the k most probable labels (Theorem 2.1 of gfm2011), so only their
number is sought. p_1 >= p_2 >= ... are the marginals of one instance, M their sum and M_k the sum of the first k.
"""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.inference._gfm import TIE
from xmlc.kernels.arrays import copy_into
from xmlc.kernels.float64 import log
from xmlc.kernels.heaps import heap_of, make_heap, pop_first
from xmlc.kernels.sums import in_turn


@njit(cache=True, nogil=True)
def candidates(p, ids):
    """Rank the labels as far as the best set can reach, in O(L + K log L).

    E_k, the expected F-measure of the first k labels, is bounded without computing it. Let N_i be the number of
    positives besides i; then E_k = 2 sum_{i <= k} p_i E[1/(k + 1 + N_i)].

    - E_k >= 2 sum_{i <= k} p_i / (k + 1 + M - p_i) by Jensen's inequality, for 1/x is convex; and as p/(c - p) is
      convex too, E_k >= 2 M_k / (k + 1 + M - M_k / k).
    - E_k <= 2 M_k / (M_k + k): F <= 2a / (a + k) for a true positives, concave in a. The bound does not rise with k,
      as M_k / k does not.
    - E_k <= 2 M_k / (k + c) with c = M - p_1. For E[x^N_i] = prod_{j != i} (1 - p_j (1 - x)) <= e^(-u (1 - x)) with
      u = M - p_i, so that E[1/(t + N_i)] = int_0^1 E[x^(t - 1 + N_i)] dx <= I_t = int_0^1 x^(t-1) e^(-u (1 - x)) dx,
      and by parts u I_t = 1 - (t - 1) I_(t-1) <= 1 - (t - 1) I_t, hence I_t <= 1 / (u + t - 1); here t = k + 1.
      M_(k+1) / (k + 1 + c) is the mediant of M_k / (k + c) and p_(k+1): from the first k on where
      p_k <= M_k / (k + c), the bound does not rise either.

    So once an upper bound that can only fall is below a lower bound, no greater k can win.

    Parameters
    ----------
    p : float64 (L,)
        Marginals above 0.
    ids : uint32 (L,)

    Returns
    -------
    order : int64 (L,)
        All places, the first K by descending marginal, then ascending id.
    K : int
        No set of more than K labels is best.
    p_empty : float64
        Probability that no label is positive, the value of the empty set.
    """
    total, p_empty = 0.0, 1.0
    for i in range(p.size):
        total += p[i]
        p_empty *= 1.0 - p[i]
    heap = np.empty(p.size, dtype=np.int64)
    make_heap(heap, p, ids)
    mass, lower, n_candidates, others = 0.0, p_empty, 0, 0.0
    for k in range(1, p.size + 1):
        next_p = p[pop_first(heap, p.size - k + 1, p, ids)]
        mass += next_p
        if k == 1:
            others = max(total - next_p, 0.0)
        upper = 2.0 * mass / (mass + k)
        if next_p * (k + others) <= mass:
            upper = min(upper, 2.0 * mass / (k + others))
        if upper < lower * (1.0 - TIE):
            break
        n_candidates = k
        lower = max(lower, 2.0 * mass / (k + 1.0 + total - mass / k))
    order = np.empty(p.size, dtype=np.int64)
    for rank in range(p.size):
        order[rank] = heap[p.size - 1 - rank]
    return order, n_candidates, p_empty


@njit(cache=True, nogil=True)
def leave_one_out_sizes(p, ranked):
    """Return P of independent labels in compact form: p_is = p_i Pr(s - 1 positives among the others).

    Sizes are kept whose probability exceeds 1e-17; all the others together lose less than 1e-15 for up to 100 of them.

    Parameters
    ----------
    p : float64 (L,)
        Marginals of all labels of the instance.
    ranked : float64 (K,)
        Those that are given a column.

    Returns
    -------
    P : float64 (S, K), sizes : float64 (S,)
    """
    law = count_distribution(p, count_limit(in_turn(p), p.size))
    sizes, n_sizes = np.empty(law.size), 0
    for size in range(1, law.size):
        if law[size] > 1e-17:
            sizes[n_sizes] = size
            n_sizes += 1
    P, rest = np.empty((n_sizes, ranked.size)), np.empty(law.size - 1)
    for i in range(ranked.size):
        without_label(law, ranked[i], rest)
        for s in range(n_sizes):
            P[s, i] = ranked[i] * rest[np.int64(sizes[s]) - 1]
    return P, sizes[:n_sizes]


@njit(cache=True, nogil=True)
def mean_reciprocals(law, size):
    """Return S(t) = E[1 / (t + N)] for t = 0 .. size - 1 (0 for t = 0), N distributed by ``law``: float64 (size,)."""
    result = np.zeros(size)
    for t in range(1, size):
        for r in range(law.size):
            result[t] += law[r] / (t + r)
    return result


@njit(cache=True, nogil=True)
def expected_of_first(p, tail):
    """Return E_k, the expected F-measure of the first k labels, for k = 1 .. K: float64 (K + 1,), 0 for k = 0.

    E_k = sum_a 2 a A_k(a) S_k(k + a), where A_k is the distribution of the positives among the first k labels and
    S_k(t) = E[1 / (t + positives among the others)]. A_k is built upwards in k. S_K comes from the distribution of
    the positives in the tail, and then S_{k-1}(t) = p_k S_k(t + 1) + (1 - p_k) S_k(t). All terms are positive. The
    tail's distribution is cut (`count_limit`), which takes less than 1e-17 from any E_k.

    Time is O(K^2 + (len(tail) + K) R), where R is the largest number of positives in the tail that has mass; memory
    is 4 K^2 bytes.

    Parameters
    ----------
    p : float64 (K,)
        The first K marginals.
    tail : float64 (L - K,)
        The others, in any order.
    """
    K = p.size
    hits = np.zeros((K + 1) * (K + 2) // 2)  # A_0, A_1, ... one behind the other, A_k with k + 1 entries
    hits[0] = 1.0
    for k in range(1, K + 1):
        before, now = hits[k * (k - 1) // 2 :], hits[k * (k + 1) // 2 :]
        for a in range(k):
            now[a] += before[a] * (1.0 - p[k - 1])
            now[a + 1] += before[a] * p[k - 1]
    law = count_distribution(tail, count_limit(in_turn(tail), tail.size))
    reciprocals = mean_reciprocals(law, 2 * K + 1)
    values = np.zeros(K + 1)
    for k in range(K, 0, -1):
        now = hits[k * (k + 1) // 2 :]
        for a in range(1, k + 1):
            values[k] += 2.0 * a * now[a] * reciprocals[k + a]
        for t in range(1, 2 * k - 1):
            reciprocals[t] = p[k - 1] * reciprocals[t + 1] + (1.0 - p[k - 1]) * reciprocals[t]
    return values


@njit(cache=True, nogil=True)
def best_of(values, p_empty):
    """Return the best k and its value: the smallest of equal ones (see `TIE`); 0 stands for the empty set."""
    best_k, best = 0, p_empty
    for k in range(1, values.size):
        if values[k] > best + TIE:
            best_k, best = k, values[k]
    return best_k, best


@njit(cache=True, nogil=True)
def meuf_rows(indptr, labels, marginals, counts, values):
    """Maximise the expected F-measure of every instance of a block; return the labels of the best sets, uint32.

    Reads 12 bytes per estimate; nothing is proportional to m.

    Parameters
    ----------
    indptr : int64 (n + 1,), labels : uint32, marginals : float64
        Instance by instance, the first at entry 0; marginals above 0.
    counts : int64 (n,), values : float64 (n,)
        Written: size and expected F-measure of the best sets.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        order, n_candidates, p_empty = candidates(p, ids)
        expected = expected_of_first(p[order[:n_candidates]], p[order[n_candidates:]])
        k, values[i] = best_of(expected, p_empty)
        for rank in range(k):
            kept[place + rank] = ids[order[rank]]
        counts[i] = k
        place += k
    return kept[:place]


# How many of several independent labels are positive (the Poisson-binomial distribution): kernels.
#
# Distributions are cut above a number of positives that is reached with a probability below 1e-17; what lies below the
# cut is what it would be without it, so that no more than that probability is lost in all.


LOG_NEGLIGIBLE = -40.0  # e^-40 = 4e-18


@njit(cache=True, nogil=True)
def count_limit(mean, n):
    """Return the number of positives, at most ``n``, that is reached with a probability below e^-40 (or is ``n``).

    Chernoff's bound, for any independent labels with ``mean`` positives expected and r > mean:
    Pr(N >= r) <= e^-mean (e mean / r)^r. (E[x^N] = prod(1 + p_i (x - 1)) <= e^(mean (x - 1)), and Pr(N >= r) is at most
    E[x^N] / x^r; take x = r / mean.)
    """
    r = int(mean) + 1
    while r < n and r * (1.0 + log(mean / r)) - mean > LOG_NEGLIGIBLE:
        r += 1
    return min(r, n)


@njit(cache=True, nogil=True)
def count_distribution(p, limit):
    """Return the distribution of the number of positives up to ``limit``, float64 (limit + 1,).

    Label by label, in O(len(p) * limit) additions and products; all terms are positive, so the relative error is
    that of len(p) roundings.

    Parameters
    ----------
    p : float64 (n,)
        Marginals of independent labels.
    limit : int
    """
    law = np.zeros(limit + 1)
    law[0] = 1.0
    for i in range(p.size):
        positive, negative = p[i], 1.0 - p[i]
        for r in range(min(i + 1, limit), 0, -1):
            law[r] = law[r] * negative + law[r - 1] * positive
        law[0] *= negative
    return law


@njit(cache=True, nogil=True)
def without_label(law, p, rest):
    """Take one label with marginal ``p`` out of a distribution of the number of positives.

    With q for the rest, law[r] = (1 - p) q[r] + p q[r - 1] is solved upwards for p <= 1/2 and downwards for p > 1/2.
    An error e of the entry before then comes in as e min(p, 1 - p) / max(p, 1 - p) <= e, and the rounding of law[r]
    at most doubled: after r steps the absolute error is below 2 (r + 1) roundings of a probability, whatever p is.

    Parameters
    ----------
    law : float64 (size,)
        From `count_distribution` with the `count_limit`: the last entry is negligible, or belongs to all labels.
    p : float64
    rest : float64 (size - 1,)
        Written: the probabilities of 0 .. size - 2 positives among the other labels.
    """
    if p <= 0.5:
        before = 0.0
        for r in range(rest.size):
            before = max((law[r] - p * before) / (1.0 - p), 0.0)
            rest[r] = before
    else:
        after = 0.0
        for r in range(rest.size - 1, -1, -1):
            after = max((law[r + 1] - (1.0 - p) * after) / p, 0.0)
            rest[r] = after


# The published MEUF (Jansche, ACL 2007), whose running time gfm2011 measures: kernels.
#
# For every k the expected F-measure of the k most probable labels is computed anew, by a dynamic programme that goes
# through all m labels and keeps the probability of every state (true positives, positives). Labels with marginal 0 are
# gone through like any others, as published; `xmlc.inference._independent` computes the same without all this.


@njit(cache=True, nogil=True)
def expected_by_states(p, k):
    """Return the expected F-measure of the first k labels, k >= 1, exactly, in O(m^3).

    Within the first k labels every positive is a true one. Behind them the state (a, r) stands for a true positives
    and a + r positives; only the states that the labels so far can have reached are touched.

    Parameters
    ----------
    p : float64 (m,)
        Marginals.
    k : int
    """
    m = p.size
    states = np.zeros((k + 1, m - k + 1))
    states[0, 0] = 1.0
    for j in range(k):
        for a in range(j + 1, 0, -1):
            states[a, 0] = states[a, 0] * (1.0 - p[j]) + states[a - 1, 0] * p[j]
        states[0, 0] *= 1.0 - p[j]
    for j in range(k, m):
        for a in range(k + 1):
            row = states[a]
            for r in range(j - k + 1, 0, -1):
                row[r] = row[r] * (1.0 - p[j]) + row[r - 1] * p[j]
            row[0] *= 1.0 - p[j]
    value = 0.0
    for a in range(1, k + 1):
        for r in range(m - k + 1):
            value += states[a, r] * (2.0 * a / (k + a + r))
    return value


@njit(cache=True, nogil=True)
def expected_by_cells(p, k, n_cells):
    """Return an approximation of the expected F-measure of the first k labels, k >= 1, in O(m k n_cells).

    As `expected_by_states`, but for the positives behind the first k labels there are ``n_cells`` cells: of exactly
    0, 1, .. of them, and the last of all greater numbers, which keeps its probability and its mean number.

    Parameters
    ----------
    p : float64 (m,)
    k, n_cells : int
    """
    last = n_cells - 1
    states, means = np.zeros((k + 1, n_cells)), np.full(k + 1, float(last))
    states[0, 0] = 1.0
    for j in range(k):
        for a in range(j + 1, 0, -1):
            states[a, 0] = states[a, 0] * (1.0 - p[j]) + states[a - 1, 0] * p[j]
        states[0, 0] *= 1.0 - p[j]
    for j in range(k, p.size):
        for a in range(k + 1):
            row = states[a]
            entering = row[last - 1] * p[j]
            mass = row[last] + entering
            if mass > 0.0:
                means[a] = (row[last] * (means[a] + p[j]) + entering * last) / mass
            row[last] = mass
            for r in range(last - 1, 0, -1):
                row[r] = row[r] * (1.0 - p[j]) + row[r - 1] * p[j]
            row[0] *= 1.0 - p[j]
    value = 0.0
    for a in range(1, k + 1):
        for r in range(last):
            value += states[a, r] * (2.0 * a / (k + a + r))
        value += states[a, last] * (2.0 * a / (k + a + means[a]))
    return value


@njit(cache=True, nogil=True)
def jansche_rows(indptr, labels, marginals, m, n_cells, counts, values):
    """Run the inner maximisation for every k of 1 .. m and the outer over them, k = 0 included, for every instance.

    Parameters
    ----------
    indptr, labels, marginals, counts, values
        See `xmlc.inference._independent.meuf_rows`.
    m : int
        Number of labels.
    n_cells : int
        At least 2: `expected_by_cells`; 0: `expected_by_states`.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        heap, ranked = np.empty(p.size, dtype=np.int64), np.zeros(m)
        make_heap(heap, p, ids)
        p_empty = 1.0
        for rank in range(p.size):
            best = pop_first(heap, p.size - rank, p, ids)
            kept[place + rank] = ids[best]
            ranked[rank] = p[best]
            p_empty *= 1.0 - p[best]
        expected = np.zeros(m + 1)
        for k in range(1, m + 1):
            expected[k] = expected_by_cells(ranked, k, n_cells) if n_cells > 0 else expected_by_states(ranked, k)
        counts[i], values[i] = best_of(expected, p_empty)
        place += counts[i]
    return kept[:place]


# Simple rules on the marginals of a block of instances: kernels.
#
# Parameters of all as of `xmlc.inference._independent.meuf_rows`; all return the labels of the sets, uint32.
# They rank only as many labels as they look at, so an instance with L labels above 0 costs O(L + k log L).


@njit(cache=True, nogil=True)
def lewis_rows(indptr, labels, marginals, counts, values):
    """Maximise Lewis' approximation 2 M_k / (M + k), M_k the sum of the first k marginals and M that of all.

    The value of k + 1 is the mediant of that of k and 2 p_{k+1} / 1: it rises exactly as long as 2 p_{k+1} exceeds the
    value, and marginals descend, so the first k that does not rise is the best.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        heap = heap_of(p, ids)
        total, p_empty = 0.0, 1.0
        for j in range(p.size):
            total += p[j]
            p_empty *= 1.0 - p[j]
        k, mass = 0, 0.0
        while k < p.size and p[heap[0]] * (total + k) > mass:
            best = pop_first(heap, p.size - k, p, ids)
            mass += p[best]
            kept[place + k] = ids[best]
            k += 1
        value = 2.0 * mass / (total + k) if k > 0 else 0.0
        counts[i] = k if value > p_empty else 0
        values[i] = max(value, p_empty)
        place += counts[i]
    return kept[:place]


@njit(cache=True, nogil=True)
def multinomial_rows(indptr, labels, marginals, counts, values):
    """Take the first k labels for the first k with p_1 + .. + p_k >= (1 + k) p_{k+1} (gfm2011, Theorem 2.2)."""
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        heap = heap_of(p, ids)
        k, mass = 0, 0.0
        while k < p.size and mass < (1 + k) * p[heap[0]]:
            best = pop_first(heap, p.size - k, p, ids)
            mass += p[best]
            kept[place + k] = ids[best]
            k += 1
        counts[i] = k
        values[i] = 2.0 * mass / (in_turn(p) * (1 + k)) if k > 0 else 1.0
        place += k
    return kept[:place]


@njit(cache=True, nogil=True)
def hamming_rows(indptr, labels, marginals, counts, values):
    """Take the labels with p >= 1/2, and compute the set's expected F-measure for independent labels.

    E[F] = sum_ar 2 a A(a) B(r) / (k + a + r) with the distributions A of the positives within and B outside the set:
    O(L R) as in `expected_of_first`.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        ids, p = labels[indptr[i] : indptr[i + 1]], marginals[indptr[i] : indptr[i + 1]]
        chosen = p >= 0.5
        inside, outside = p[chosen], p[~chosen]
        k = inside.size
        copy_into(kept[place:], ids[chosen])
        place += k
        counts[i] = k
        hits = count_distribution(inside, k)
        others = count_distribution(outside, count_limit(in_turn(outside), outside.size))
        values[i] = 0.0 if k > 0 else others[0]
        for a in range(1, k + 1):
            for r in range(others.size):
                values[i] += 2.0 * a * hits[a] * others[r] / (k + a + r)
    return kept[:place]
