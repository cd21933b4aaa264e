"""The published procedure of MEUF (Jansche, ACL 2007; gfm2011, Section 2.1)."""

from __future__ import annotations

import numpy as np

from xmlc.core.kernel_cache import njit
from xmlc.inference.distributions import as_marginals, predict_from_marginals
from xmlc.inference.meuf import best_of, probability_of_none
from xmlc.kernels.csr import CSR, Matrix
from xmlc.kernels.domains import MANY, check, whole

# An instance takes milliseconds, so even small tasks keep several threads busy
ROWS_PER_TASK = 16


@njit
def jansche_rows(indptr, labels, marginals, m, n_cells, counts, values):
    """Maximise over k in 0 .. m per instance, with Jansche's inner maximisation for each k.

    There are at least 2 states ``n_cells``, or with 0 one per number of positives, which is exact.
    The block is that of `xmlc.inference.meuf.meuf_rows`, with m labels.
    """
    kept = np.empty(labels.size, dtype=np.uint32)
    place = 0
    for i in range(counts.size):
        own = slice(indptr[i], indptr[i + 1])
        p = marginals[own]
        # Labels ascend, and equal marginals stay in this order
        order = np.argsort(-p, kind="mergesort")
        kept[place : place + p.size] = labels[own][order]
        ranked = np.zeros(m)
        ranked[: p.size] = p[order]
        expected = np.zeros(m + 1)
        for k in range(1, m + 1):
            expected[k] = expected_by_cells(ranked, k, n_cells or m - k + 2)
        counts[i], values[i] = best_of(expected, probability_of_none(ranked))
        place += counts[i]
    return kept[:place]


@njit
def expected_by_cells(p, k, n_cells):
    """Return the expected F of the first k labels by the published dynamic programme of MEUF.

    The programme is by Jansche (ACL 2007), and gfm2011 measures its time. For each k >= 1, it
    processes all m labels again, also those with marginal 0. Positives among the first k labels are
    true positives. For later labels, the state (a, r) means a true positives and r others. The
    first cells represent r = 0, 1, .. exactly, and the last all greater values by their total
    probability and their mean.

    Time is O(m k n_cells). With at least m - k + 2 cells, the last stays empty, so that the result
    is exact, in O(m^3). The marginals p, float64 (m,), descend.
    """
    last = n_cells - 1
    states = np.zeros((k + 1, n_cells))
    means = np.full(k + 1, float(last))
    states[0, 0] = 1.0
    for j in range(k):
        for a in range(j + 1, 0, -1):
            states[a, 0] = states[a, 0] * (1.0 - p[j]) + states[a - 1, 0] * p[j]
        states[0, 0] *= 1.0 - p[j]
    for j in range(k, p.size):
        others = j - k  # labels added after the first k, so r is at most this
        for a in range(k + 1):
            row = states[a]
            if others >= last - 1:
                entering = row[last - 1] * p[j]
                mass = row[last] + entering
                if mass > 0.0:
                    means[a] = (row[last] * (means[a] + p[j]) + entering * last) / mass
                row[last] = mass
            for r in range(min(last - 1, others + 1), 0, -1):
                row[r] = row[r] * (1.0 - p[j]) + row[r - 1] * p[j]
            row[0] *= 1.0 - p[j]
    value = 0.0
    for a in range(1, k + 1):
        for r in range(last):
            value += states[a, r] * (2.0 * a / (k + a + r))
        value += states[a, last] * (2.0 * a / (k + a + means[a]))
    return value


def meuf_cubic(marginals: Matrix, n_jobs: int | None = None) -> tuple[CSR, np.ndarray]:
    """Find the sets of `meuf` by the published procedure (Jansche, 2007), for small m only.

    For each k, a dynamic programme over all m labels computes the expected F-measure of the k most
    probable labels in O(m^3), so the total time is O(m^4). gfm2011 describes it in Section 2.1 and
    reports its times in Table 1 and Figure 1.

    Parameters
    ----------
    marginals, n_jobs
        As in `meuf`.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)

    Raises
    ------
    XmlcError
        As in `meuf`.

    See Also
    --------
    meuf : The same sets in less time.

    Examples
    --------
    >>> from xmlc.inference import meuf_cubic
    >>> Y_hat, expected_f = meuf_cubic([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.708, 0.648])
    """
    return _by_dynamic_programme(marginals, n_jobs, 0)


def meuf_approx(
    marginals: Matrix, n_jobs: int | None = None, n_cells: int = 16
) -> tuple[CSR, np.ndarray]:
    """Approximate `meuf_cubic` by an inner maximisation quadratic in m, in O(m^3).

    The dynamic programme counts the positives outside the predicted set in ``n_cells`` states, of
    which the last covers ``n_cells - 1`` or more positives by their probability and mean number.
    Because 1/x is convex, the approximate expected F-measure is at most the exact one. The two are
    equal if at most ``n_cells - 1`` labels are outside the predicted set.

    gfm2011 used the approximate variant with parameters suggested by Jansche (2007), but does not
    report them. The default of ``n_cells`` and the definition of the states are choices of xmlc.

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
    n_jobs : int or None
        Number of threads, without effect on the result.
    n_cells : int
        Number of states, at least 2.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)
        The approximate expected F-measure of each set.

    Raises
    ------
    XmlcError
        If an entry is not a probability, the shape is not (n, m), or ``n_cells`` is below 2.

    See Also
    --------
    meuf : Exact, and faster.

    Examples
    --------
    >>> from xmlc.inference import meuf_approx
    >>> Y_hat, expected_f = meuf_approx([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.708, 0.648])
    """
    check(
        "n_cells",
        n_cells,
        whole(2, MANY),
        "One state is for 0 positives, and the other states are for 1 or more.",
    )
    return _by_dynamic_programme(marginals, n_jobs, n_cells)


def _by_dynamic_programme(
    marginals: Matrix, n_jobs: int | None, n_cells: int
) -> tuple[CSR, np.ndarray]:
    p = as_marginals(marginals)
    return predict_from_marginals(
        jansche_rows, p, n_jobs, p.shape[1], n_cells, rows_per_task=ROWS_PER_TASK
    )
