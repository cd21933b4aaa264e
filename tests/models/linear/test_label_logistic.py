"""One regression for each label: the selection of C, and the division into tasks."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.kernels.csr import kernel_csr
from xmlc.models.linear import label_logistic
from xmlc.models.linear.label_logistic import linear_scores


@pytest.mark.parametrize("common", [True, False])
def test_selected_c_has_smallest_mean_loss(common):
    losses = np.random.default_rng(2).random((6, 3, 5))
    losses[0, 1] = np.nan
    losses[5] = np.nan
    means = np.zeros((6, 5))
    means[:5] = np.nanmean(losses[:5], axis=1)
    expected = means.argmin(axis=1)
    if common:
        expected[:] = means.sum(axis=0).argmin()
    assert label_logistic.best_indices(losses, common).tolist() == expected.tolist()


def test_scores_add_in_order_of_features():
    rng = np.random.default_rng(1)
    X = sparse.random_array((12, 9), density=0.5, rng=rng, dtype=np.float32, format="csr")
    weights = rng.normal(size=(9, 5)).astype(np.float32)
    expected = constants = rng.normal(size=5).astype(np.float32)
    for column, own in zip(X.toarray().T.astype(float), weights, strict=True):
        expected = expected + np.outer(column, own)
    assert (linear_scores(*kernel_csr(X), weights, constants) == expected).all()
