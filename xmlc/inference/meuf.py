"""Infer label sets by MEUF, the maximum expected utility framework (Jansche, ACL 2007), or by simpler rules.

MEUF is exact for independent labels.
"""

from __future__ import annotations

import numpy as np

from xmlc.inference._independent import meuf_rows
from xmlc.inference._rules import first_rows, hamming_rows, jansche_rows
from xmlc.inference.distributions import as_marginals, predict_from_marginals
from xmlc.kernels.csr import CSR, Matrix
from xmlc.kernels.domains import MANY, check, whole

# The published procedures take milliseconds per instance, so even small tasks keep several threads busy.
JANSCHE_ROWS_PER_TASK = 16


def meuf(marginals: Matrix, n_jobs: int | None = None) -> tuple[CSR, np.ndarray]:
    """Find for each instance the label set that exactly maximises the expected F-measure of independent labels.

    The sets are equal to the sets of Jansche's procedure (`meuf_cubic`). The kernel uses a recursion by Ye, Chai, Lee
    and Chieu, "Optimizing F-measures: a tale of two approaches", ICML 2012. The recursion takes O(K^2), where K is an
    upper bound on the size of the best set. The kernel ``candidates`` finds a K that is little larger than the size of
    the best set.

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
        p(Y_i = 1). Labels that an SPE does not store have the marginal 0 (`truncation_bound` bounds the loss).
    n_jobs : int or None
        Number of threads. The result does not depend on the number of threads.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
        If sets have equal values (up to 1e-12), the set with the fewest labels wins. Next, the set with the smaller
        label ids wins.
    expected_f : ndarray of float64, shape (n,)
        Expected F-measure of each set for independent labels, with 0/0 = 1, exact up to rounding errors.

    Raises
    ------
    XmlcError
        An entry is not a probability, or the shape is not (n, m).

    Notes
    -----
    For an instance with L marginals above 0, time is O(L R + K^2), independent of m. R is the largest r for which at
    least r labels outside the first K are positive with a probability of at least 4e-18.

    Examples
    --------
    >>> from xmlc.inference import meuf
    >>> Y_hat, expected_f = meuf([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.708, 0.648])
    """
    return predict_from_marginals(meuf_rows, marginals, n_jobs, True, trusting=True)


def meuf_cubic(marginals: Matrix, n_jobs: int | None = None) -> tuple[CSR, np.ndarray]:
    """Find the sets of `meuf` by the published procedure (Jansche, 2007; gfm2011, Section 2.1), for small m only.

    For each k, a dynamic programme over all m labels computes the expected F-measure of the k most probable labels.
    The programme for one k takes O(m^3), so the total time is O(m^4). gfm2011's Table 1 and Figure 1 report running
    times of Jansche's procedure. Parameters, results and errors are as in `meuf`.

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


def meuf_approx(marginals: Matrix, n_jobs: int | None = None, n_cells: int = 16) -> tuple[CSR, np.ndarray]:
    """Approximate `meuf_cubic` by an inner maximisation that is quadratic in m, in a total time of O(m^3).

    The dynamic programme counts the positives outside the predicted set in ``n_cells`` states. The last state covers
    ``n_cells - 1`` or more positives, represented by their probability and their mean number. The approximate expected
    F-measure is at most the exact value, because 1/x is convex. The expected F-measure is exact if at most ``n_cells -
    1`` labels are outside the predicted set.

    gfm2011 used the approximate variant with parameters suggested by Jansche (2007), but does not report their values.
    The default of ``n_cells`` and the definition of the states are choices of xmlc.

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
    n_jobs : int or None
        Number of threads. The result does not depend on the number of threads.
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
        An entry is not a probability, the shape is not (n, m), or ``n_cells`` is below 2.

    Examples
    --------
    >>> from xmlc.inference import meuf_approx
    >>> Y_hat, expected_f = meuf_approx([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.708, 0.648])
    """
    check("n_cells", n_cells, whole(2, MANY), "One state is for 0 positives, and the other states are for 1 or more.")
    return _by_dynamic_programme(marginals, n_jobs, n_cells)


def _by_dynamic_programme(marginals: Matrix, n_jobs: int | None, n_cells: int) -> tuple[CSR, np.ndarray]:
    p = as_marginals(marginals)
    return predict_from_marginals(jansche_rows, p, n_jobs, p.shape[1], n_cells, rows_per_task=JANSCHE_ROWS_PER_TASK)


# `lewis`, `multinomial` (for exactly one positive label) and `hamming` apply simple rules.


def lewis(marginals: Matrix, n_jobs: int | None = None) -> tuple[CSR, np.ndarray]:
    """Maximise Lewis' approximation of the expected F-measure of independent labels (gfm2011, Section 2.1).

    The approximation is 2 sum_i p_i h_i / (sum_i p_i + sum_i h_i) for h != 0, and the exact value prod_i (1 - p_i) for
    h = 0. The best set consists of the k most probable labels. If two sizes k have equal values, the smaller k wins.

    Parameters, results and errors are as in `xmlc.inference.meuf`, but ``expected_f`` is the approximate value.

    Examples
    --------
    >>> from xmlc.inference import lewis
    >>> Y_hat, expected_f = lewis([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 1, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.722, 0.648])
    """
    return predict_from_marginals(first_rows, marginals, n_jobs, False)


def multinomial(marginals: Matrix, n_jobs: int | None = None) -> tuple[CSR, np.ndarray]:
    """Maximise the expected F-measure if exactly one label is positive (gfm2011, Theorem 2.2, after del Coz et al.).

    The set contains the k most probable labels, for the smallest k with p_1 + .. + p_k >= (1 + k) p_{k+1}.

    Marginals that do not sum to 1 are divided by their sum, as if one label were drawn in proportion to the marginals.
    The division does not change the set, because the rule only compares marginals with each other. An instance without
    marginals above 0 gets the empty set.

    Parameters, results and errors are as in `xmlc.inference.meuf`, but ``expected_f`` is
    2 (p_1 + .. + p_k) / ((1 + k) sum_i p_i). ``expected_f`` is 1 for an instance without marginals above 0.

    Examples
    --------
    >>> from xmlc.inference import multinomial
    >>> Y_hat, expected_f = multinomial([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [1, 0, 0]]
    >>> expected_f.round(3)
    array([0.562, 0.5  ])
    """
    return predict_from_marginals(first_rows, marginals, n_jobs, True)


def hamming(marginals: Matrix, n_jobs: int | None = None) -> tuple[CSR, np.ndarray]:
    """Predict the labels with p_i >= 1/2, which minimises the expected Hamming loss (gfm2011's H, Section 4).

    Parameters, results and errors are as in `xmlc.inference.meuf`. ``expected_f`` is the predicted set's expected
    F-measure for independent labels, with 0/0 = 1.

    Examples
    --------
    >>> from xmlc.inference import hamming
    >>> Y_hat, expected_f = hamming([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.708, 0.648])
    """
    return predict_from_marginals(hamming_rows, marginals, n_jobs)
