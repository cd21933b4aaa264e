"""Label sets without thresholds: of each instance the set of largest expected F, whatever stands next to it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from small_models import OURS, small

from xmlc.inference import meuf
from xmlc.models import PLT, label_sets
from xmlc.thresholds import LabelSets


@pytest.mark.parametrize("name", OURS)
def test_they_have_the_largest_expected_f_for_any_blocks(name, multilabel, monkeypatch):
    X, Y = multilabel(40, 10, 5)
    model = small(name).fit(X, Y)
    spe = model.predict_proba(X, label_sets.FLOOR)
    products, expected = model.inner_products_, meuf(spe)[0]
    assert (expected != LabelSets("instance_f").fit(spe).predict(spe)).nnz == 0
    for rows in (label_sets.ROWS, 7):
        monkeypatch.setattr(label_sets, "ROWS", rows)
        model.inner_products_ = None
        found = model.predict(X)
        assert found.dtype == bool
        np.testing.assert_array_equal(found.toarray(), expected.toarray())
        np.testing.assert_array_equal(model.inner_products_, products)
        estimates = label_sets.estimates_of_sets(model, X)
        np.testing.assert_array_equal(estimates.toarray(), np.where(expected.toarray(), spe.toarray(), 0))
    for none in (X[:0], np.zeros((0, 10))):
        assert model.predict(none).shape == (0, 5)


def test_instances_may_be_lists_or_frames_with_the_names_of_training(multilabel, monkeypatch):
    X, Y = multilabel(30, 4, 5)
    monkeypatch.setattr(label_sets, "ROWS", 7)
    frame = pd.DataFrame(X.toarray(), columns=[*"abcd"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PLT(n_jobs=1).fit(frame, Y)
        expected = model.predict(frame).toarray()
    np.testing.assert_array_equal(PLT(n_jobs=1).fit(X, Y).predict(X.toarray().tolist()).toarray(), expected)
    with pytest.raises(ValueError, match="names"):
        model.predict(frame[[*"dcba"]])


def test_low_sums_of_estimates_are_not_warned_of(multilabel):
    X, Y = multilabel(200, 10, 5)
    model = PLT(n_jobs=1).fit(X, sparse.csr_array(Y.toarray() * (np.arange(200) % 8 == 0)[:, None]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(X).shape == (200, 5)
