"""Label sets without thresholds: for each instance, the set with the largest expected F."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from facts import raises_with
from scipy import sparse
from small_models import OURS, small

from xmlc.inference import meuf
from xmlc.models import PLT, label_sets
from xmlc.thresholds import LabelSets


@pytest.mark.parametrize("name", OURS)
def test_predicted_sets_have_largest_expected_f_in_any_blocks(name, multilabel, monkeypatch):
    X, Y = multilabel(40, 10, 5)
    model = small(name).fit(X, Y)
    spe = model.predict_proba(X, label_sets.MIN_PROBABILITY)
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


def test_predict_accepts_lists_and_frames_with_training_columns(multilabel, monkeypatch):
    X, Y = multilabel(30, 4, 5)
    monkeypatch.setattr(label_sets, "ROWS", 7)
    frame = pd.DataFrame(X.toarray(), columns=[*"abcd"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PLT(n_jobs=1).fit(frame, Y)
        expected = model.predict(frame).toarray()
    np.testing.assert_array_equal(PLT(n_jobs=1).fit(X, Y).predict(X.toarray().tolist()).toarray(), expected)
    with raises_with(ValueError, "names"):
        model.predict(frame[[*"dcba"]])


def test_predict_does_not_warn_about_low_sums_of_estimates(multilabel):
    X, Y = multilabel(200, 10, 5)
    model = PLT(n_jobs=1).fit(X, sparse.csr_array(Y.toarray() * (np.arange(200) % 8 == 0)[:, None]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(X).shape == (200, 5)


@pytest.mark.parametrize("name", ["plt", "swnn"])
def test_no_set_is_empty_if_each_training_instance_has_labels(name, multilabel, tmp_path):
    X, Y = multilabel(60, 10, 5)
    some = X[np.diff(Y.indptr) > 0], Y[np.diff(Y.indptr) > 0]
    assert some[0].shape != X.shape
    model = small(name).fit(*some)
    model.save(tmp_path / "model")
    for one in (model, type(model).load(tmp_path / "model")):
        spe, found = one.predict_proba(X, label_sets.MIN_PROBABILITY).toarray(), one.predict(X).toarray()
        for p, chosen in zip(spe, found):
            order = np.argsort(-p, kind="stable")
            values = [expected_f(p, order[: k + 1]) for k in range(p.size) if p[order[k]] > 0]
            expected = sorted(order[: int(np.argmax(values)) + 1]) if values else []
            assert chosen.nonzero()[0].tolist() == expected
    assert not model.fit(X, Y).labelled_


def expected_f(p, chosen):
    """Sum F over all label sets, for independent labels."""
    total = 0.0
    for y in itertools.product([0, 1], repeat=p.size):
        probability = np.prod(np.where(y, p.astype(float), 1 - p.astype(float)))
        total += probability * 2 * sum(y[j] for j in chosen) / (sum(y) + len(chosen))
    return total
