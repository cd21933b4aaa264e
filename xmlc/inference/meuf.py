"""MEUF: the maximum expected utility framework (Jansche, ACL 2007): exact for independent labels."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.inference._independent import meuf_rows
from xmlc.inference._rules import first_rows, hamming_rows, jansche_rows
from xmlc.inference.distributions import as_marginals, predict_from_marginals
from xmlc.kernels.csr import Matrix
from xmlc.kernels.domains import MANY, check, whole

# The published procedures take milliseconds for an instance: pieces of few, so that several threads find work.
JANSCHE_ROWS_PER_PIECE = 16


def meuf(marginals: Matrix, n_jobs: int | None = None) -> tuple[sparse.csr_array, np.ndarray]:
    """Find for each instance the label set of greatest expected F-measure if labels are independent, exactly.

    The same sets as Jansche's procedure (`meuf_cubic`), by the recursion of Ye, Chai, Lee and Chieu, "Optimizing
    F-measures: a tale of two approaches", ICML 2012, which is quadratic in all: over a number K of labels that bounds
    proved in the kernel (``candidates``) keep little above the size of the best set.

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
        p(Y_i = 1); what an SPE does not store counts as 0 (see `floor_bound` for what that costs).
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
        Of sets of equal value (up to 1e-12) that of the fewest labels, then that of the smaller label ids.
    expected_f : ndarray of float64, shape (n,)
        Its expected F-measure, 0/0 = 1, were the labels independent; exact to rounding.

    Raises
    ------
    XmlcError
        An entry is no probability, or the shape is not (n, m).

    Notes
    -----
    An instance with L labels above 0 costs O(L R + K^2), R being the number of positives behind the K that is
    reached with a probability of 4e-18 or more; nothing is proportional to m.

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


def meuf_cubic(marginals: Matrix, n_jobs: int | None = None) -> tuple[sparse.csr_array, np.ndarray]:
    """Maximise as `meuf`, by the published procedure (Jansche, 2007; gfm2011, Section 2.1), for small m only.

    For each k a dynamic programme over all m labels, cubic in m, gives the expected F-measure of the k most probable
    labels: O(m^4) in all. It is here because the running times of gfm2011's Table 1 and Figure 1 are about it; the
    result is that of `meuf`. Arguments, results and errors are those of `meuf`.

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


def meuf_approx(marginals: Matrix, n_jobs: int | None = None, n_cells: int = 16) -> tuple[sparse.csr_array, np.ndarray]:
    """Approximate `meuf_cubic` by an inner maximisation that is quadratic in m: O(m^3) in all.

    The dynamic programme keeps as many states of the positives outside the predicted set as ``n_cells``: the last one
    stands for ``n_cells - 1`` or more of them and keeps its probability and mean number. So the value is too small, if
    at all (1/x is convex), and exact where no more than ``n_cells - 1`` labels are outside.

    gfm2011 says that it used the approximate variant with the parameters suggested by Jansche (2007), and does not
    print them: the cells and their number are ours.

    Parameters
    ----------
    marginals : sparse matrix (an SPE) or ndarray, shape (n, m)
    n_jobs : int or None
        Threads; the result does not depend on it.
    n_cells : int
        At least 2.

    Returns
    -------
    Y_hat : csr_array of bool, shape (n, m)
    expected_f : ndarray of float64, shape (n,)
        The approximate value.

    Raises
    ------
    XmlcError
        An entry is no probability, the shape is not (n, m), or ``n_cells`` is below 2.

    Examples
    --------
    >>> from xmlc.inference import meuf_approx
    >>> Y_hat, expected_f = meuf_approx([[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    >>> expected_f.round(3)
    array([0.708, 0.648])
    """
    check("n_cells", n_cells, whole(2, MANY), ": one cell for no positives and one for other numbers")
    return _by_dynamic_programme(marginals, n_jobs, n_cells)


def _by_dynamic_programme(marginals: Matrix, n_jobs: int | None, n_cells: int) -> tuple[sparse.csr_array, np.ndarray]:
    p = as_marginals(marginals)
    return predict_from_marginals(jansche_rows, p, n_jobs, p.shape[1], n_cells, rows_per_piece=JANSCHE_ROWS_PER_PIECE)


# Rules that look at the marginals only: Lewis' approximation, the multinomial case, and H.


def lewis(marginals: Matrix, n_jobs: int | None = None) -> tuple[sparse.csr_array, np.ndarray]:
    """Maximise Lewis' approximation of the expected F-measure of independent labels (gfm2011, Section 2.1).

    2 sum_i p_i h_i / (sum_i p_i + sum_i h_i) for h != 0, and for h = 0 the exact prod_i (1 - p_i). Best is a set of
    the most probable labels; of equal values the smaller k. The empty set wins a tie.

    Parameters, result and errors are those of `xmlc.inference.meuf`; ``expected_f`` is the approximation's value, not
    the exact one.

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


def multinomial(marginals: Matrix, n_jobs: int | None = None) -> tuple[sparse.csr_array, np.ndarray]:
    """Maximise the expected F-measure if exactly one label is positive (gfm2011, Theorem 2.2, after del Coz et al.).

    The k most probable labels for the first k with p_1 + .. + p_k >= (1 + k) p_{k+1}.

    Marginals that do not sum to 1 are divided by their sum, as if one label was drawn in proportion to them. The set
    is the same without that, for the rule compares marginals with one another only. An instance without any marginal
    above 0 gets the empty set.

    Parameters, result and errors are those of `xmlc.inference.meuf`; ``expected_f`` is
    2 (p_1 + .. + p_k) / ((1 + k) sum_i p_i), and 1 for an instance without any marginal above 0.

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


def hamming(marginals: Matrix, n_jobs: int | None = None) -> tuple[sparse.csr_array, np.ndarray]:
    """Predict the labels with p_i >= 1/2, which minimises the expected Hamming loss (gfm2011's H, Section 4).

    Parameters, result and errors are those of `xmlc.inference.meuf`; ``expected_f`` is that of the set predicted,
    0/0 = 1, were the labels independent.

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
