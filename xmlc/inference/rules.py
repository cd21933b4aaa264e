"""Rules that look at the marginals only: Lewis' approximation, the multinomial case, and H."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.inference._kernels.rules import hamming_rows, lewis_rows, multinomial_rows
from xmlc.inference.predictions import predict_from_marginals


def lewis(marginals: object, n_jobs: int | None = None) -> tuple[sparse.csr_array, np.ndarray]:
    """Maximise Lewis' approximation of the expected F-measure of independent labels (gfm2011, Section 2.1).

    2 sum_i p_i h_i / (sum_i p_i + sum_i h_i) for h != 0, and for h = 0 the exact prod_i (1 - p_i). Best is a set of
    the most probable labels; of equal values the smaller k. The empty set wins a tie.

    Parameters, result and errors are those of `xmlc.inference.meuf`; ``expected_f`` is the approximation's value, not
    the exact one.
    """
    return predict_from_marginals(lewis_rows, marginals, n_jobs)


def multinomial(marginals: object, n_jobs: int | None = None) -> tuple[sparse.csr_array, np.ndarray]:
    """Maximise the expected F-measure if exactly one label is positive (gfm2011, Theorem 2.2, after del Coz et al.).

    The k most probable labels for the first k with p_1 + .. + p_k >= (1 + k) p_{k+1}.

    Marginals that do not sum to 1 are divided by their sum, as if one label was drawn in proportion to them. The set
    is the same without that, for the rule compares marginals with one another only. An instance without any marginal
    above 0 gets the empty set.

    Parameters, result and errors are those of `xmlc.inference.meuf`; ``expected_f`` is
    2 (p_1 + .. + p_k) / ((1 + k) sum_i p_i), and 1 for an instance without any marginal above 0.
    """
    return predict_from_marginals(multinomial_rows, marginals, n_jobs)


def hamming(marginals: object, n_jobs: int | None = None) -> tuple[sparse.csr_array, np.ndarray]:
    """Predict the labels with p_i >= 1/2, which minimises the expected Hamming loss (gfm2011's H, Section 4).

    Parameters, result and errors are those of `xmlc.inference.meuf`; ``expected_f`` is that of the set predicted,
    0/0 = 1, were the labels independent.
    """
    return predict_from_marginals(hamming_rows, marginals, n_jobs)
