"""Estimates in canonical form, the same for all that take them, and rankings of them."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.core.errors import InvalidDataError
from xmlc.inference import gfm, meuf
from xmlc.kernels.estimates import top_k_of
from xmlc.kernels.probabilities import as_estimates
from xmlc.metrics import ndcg_at_k, precision_at_k, psp_at_k
from xmlc.thresholds import FTA, OFO, STO, CommonThreshold, apply_thresholds
from xmlc.thresholds.tune import tune

Y = sparse.csr_array(np.array([[1, 0, 0, 1], [0, 1, 0, 0]], dtype=bool))
PRIORS = np.full(4, 0.25)
TAKERS = {
    "fta": lambda spe: FTA().fit(spe, Y).thresholds_,
    "sto": lambda spe: STO().fit(spe, Y).thresholds_,
    "ofo": lambda spe: OFO().partial_fit(spe, Y).thresholds_,
    "common": lambda spe: CommonThreshold().fit(spe, Y).thresholds_,
    "apply": lambda spe: apply_thresholds(spe, 0.5).toarray(),
    "tune": lambda spe: tune("fta", spe, Y, PRIORS).thresholds,
    "meuf": lambda spe: meuf(spe)[0].toarray(),
    "gfm": lambda spe: gfm(spe)[0].toarray(),
}


def stored(values):
    """Return a CSR array that stores its zeros, too."""
    values = np.asarray(values, dtype=np.float32)
    every = np.ones(values.shape, dtype=bool)
    return sparse.csr_array((values[every], np.nonzero(every)), shape=values.shape)


@pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)
def test_zeros_are_dropped_and_what_exceeds_1_by_rounding_is_1_for_all_takers(take):
    rough = stored([[np.nextafter(np.float32(1), np.float32(2)), 0.0, 0.2, 0.6], [0.0, 0.9, 0.3, 0.0]])
    before = rough.copy()
    np.testing.assert_array_equal(take(rough), take(sparse.csr_array(np.minimum(rough.toarray(), 1))))
    np.testing.assert_array_equal(rough.data, before.data, "the caller's is as it was")


@pytest.mark.parametrize("take", TAKERS.values(), ids=TAKERS)
@pytest.mark.parametrize("wrong", [1.5, -0.1, np.nan, np.inf])
def test_logits_are_refused_by_all_takers(take, wrong):
    with pytest.raises(InvalidDataError, match="apply a sigmoid"):
        take(stored([[wrong, 0.0, 0.2, 0.6], [0.0, 0.9, 0.3, 0.0]]))


def test_canonical_estimates_are_not_copied():
    spe = sparse.csr_array(np.float32([[0.5, 0.0], [0.25, 1.0]]))
    assert np.shares_memory(as_estimates(spe).data, spe.data)


def test_metrics_of_rankings_rank_sparse_scores():
    spe = stored([[0.2, 0.9, 0.9, 0.1], [0.0, 0.3, 0.2, 0.1]])
    labels, _ = top_k_of(spe, 3)
    assert labels.tolist() == [[1, 2, 0], [1, 2, 3]]
    for scores in (spe, spe.tocsc(), sparse.csr_matrix(spe), spe.astype(np.float64) - 5 * spe.astype(bool)):
        for k in (1, 3):
            assert precision_at_k(Y, scores, k) == precision_at_k(Y, labels, k)
            assert ndcg_at_k(Y, scores, k) == ndcg_at_k(Y, labels, k)
            assert psp_at_k(Y, scores, PRIORS, k) == psp_at_k(Y, labels, PRIORS, k)
    with pytest.raises(InvalidDataError, match="do not fit 2 instances"):
        precision_at_k(Y, spe[:1], 1)
