"""Label sets without thresholds: for each instance, the set with the largest expected F."""

import itertools
import warnings

import numpy as np
import pytest
from facts import raises_with
from sklearn.utils.validation import has_fit_parameter
from small_models import OURS, small

from xmlc.core.errors import XmlcError
from xmlc.inference import meuf
from xmlc.kernels.estimator import InvalidParameterError
from xmlc.models import OPLT, PLT, label_sets
from xmlc.thresholds import LabelSets


@pytest.mark.parametrize("name", OURS)
def test_predicted_sets_have_largest_expected_f_in_any_blocks(name, multilabel, monkeypatch):
    X, Y = multilabel(40, 10, 5)
    model = small(name).fit(X, Y)
    spe = model.predict_proba(X, label_sets.MIN_PROBABILITY)
    products = model.inner_products_
    expected = meuf(spe)[0]
    assert (expected != LabelSets("instance_f").fit(spe).predict(spe)).nnz == 0
    for rows in (label_sets.ROWS, 7):
        monkeypatch.setattr(label_sets, "ROWS", rows)
        model.inner_products_ = None
        found = model.predict(X)
        assert found.dtype == bool
        np.testing.assert_array_equal(found.toarray(), expected.toarray())
        np.testing.assert_array_equal(model.inner_products_, products)
        estimates = label_sets.estimates_of_sets(model, X).toarray()
        np.testing.assert_array_equal(estimates, np.where(expected.toarray(), spe.toarray(), 0))
    assert model.predict(np.zeros((0, 10))).shape == (0, 5)


def test_predict_does_not_warn_about_low_sums_of_estimates(multilabel):
    X, Y = multilabel(200, 10, 5)
    few = Y.toarray() * (np.arange(200) % 8 == 0)[:, None]
    model = PLT(n_jobs=1).fit(X, few)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(X).shape == (200, 5)


def test_no_set_is_empty_if_each_training_instance_has_labels(multilabel, tmp_path):
    X, Y = multilabel(60, 10, 5)
    labelled = np.flatnonzero(np.diff(Y.indptr))
    model = small("plt").fit(X[labelled], Y[labelled])
    model.save(tmp_path / "model")
    for one in (model, PLT.load(tmp_path / "model")):
        spe = one.predict_proba(X, label_sets.MIN_PROBABILITY).toarray()
        for p, chosen in zip(spe, one.predict(X).toarray(), strict=True):
            order = np.argsort(-p, kind="stable")[: np.count_nonzero(p)]
            values = [expected_f(p, order[:size]) for size in range(1, order.size + 1)]
            best = order[: int(np.argmax(values)) + 1]
            assert chosen.nonzero()[0].tolist() == sorted(best)


def expected_f(p, chosen):
    """Sum F over all label sets, for independent labels."""
    total = 0.0
    for y in itertools.product([0, 1], repeat=p.size):
        probability = np.prod(np.where(y, p.astype(float), 1 - p.astype(float)))
        total += probability * 2 * sum(y[j] for j in chosen) / (sum(y) + len(chosen))
    return total


# Whether label sets may be empty is decided from the training instances that count.


def labelled_data(multilabel):
    """Return instances of which the last two lack labels, the label sets, and the numbers of the
    others.
    """
    X, Y = multilabel(60, 10, 5)
    n_labels = np.diff(Y.indptr)
    labelled = np.flatnonzero(n_labels)[:40]
    without = np.flatnonzero(n_labels == 0)[:2]
    rows = np.concatenate([labelled, without])
    return X[rows], Y[rows], np.arange(40)


@pytest.mark.parametrize("name", OURS)
def test_sets_may_be_empty_only_if_a_counted_instance_lacks_labels(name, multilabel, tmp_path):
    X, Y, labelled = labelled_data(multilabel)
    model = small(name)
    assert not model.fit(X, Y).all_labelled_
    assert model.fit(X[labelled], Y[labelled]).all_labelled_
    stored_zeros = Y[labelled].astype(np.int8)
    stored_zeros.data[: stored_zeros.indptr[1]] = 0  # the first instance has no label
    assert not model.fit(X[labelled], stored_zeros).all_labelled_
    if has_fit_parameter(model, "sample_weight"):
        weights = np.where(np.arange(42) < 40, 0.5, 0)
        assert model.fit(X, Y, sample_weight=weights).all_labelled_
        assert not model.fit(X, Y, sample_weight=weights[::-1]).all_labelled_
        assert model.fit_to_disk(tmp_path / "model", X, Y, sample_weight=weights).all_labelled_
        assert type(model).load(tmp_path / "model").all_labelled_


def test_streams_know_whether_all_instances_so_far_have_labels(multilabel, tmp_path):
    X, Y, labelled = labelled_data(multilabel)
    model = OPLT(n_jobs=1, online=True, epochs=1)
    for rows in (labelled[:20], labelled[20:], labelled[:0]):
        assert model.partial_fit(X[rows], Y[rows]).all_labelled_
    assert np.diff(model.predict(X[labelled]).indptr).min() > 0
    assert model.to_plt().all_labelled_
    model.save(tmp_path / "model")
    loaded = OPLT.load(tmp_path / "model")
    assert loaded.partial_fit(X[:5], Y[:5]).all_labelled_
    with raises_with(ValueError, "2", "3"):
        loaded.partial_fit(X[-2:], Y[-3:])
    assert loaded.all_labelled_
    assert not loaded.partial_fit(X[-2:], Y[-2:]).all_labelled_
    assert not loaded.partial_fit(X[:5], Y[:5]).all_labelled_
    assert loaded.fit(X[labelled], Y[labelled]).all_labelled_  # `fit` forgets the others
    assert not loaded.partial_fit(X[-1:], Y[-1:]).all_labelled_


def test_measure_is_checked_and_excludes_thresholds(multilabel):
    X, Y = multilabel(150, 10, 5)
    model = PLT(n_jobs=1).fit(X, Y)
    with raises_with(InvalidParameterError, "macrof", "macro_f"):
        model.predict(X, measure="macrof")
    with raises_with(InvalidParameterError, "thresholds", "macro_f"):
        model.predict(X, 0.5, "macro_f")
    with pytest.warns(UserWarning, match="99"):
        model.predict(X[:99], measure="macro_f")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X[:100], measure="macro_f")
        model.predict(X[:1], measure="micro_f")


def test_counts_of_labels_are_of_all_instances_that_were_learned(multilabel, tmp_path):
    X, Y = multilabel(60, 10, 5)
    weights = np.arange(60) % 3
    model = PLT(n_jobs=1).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(model.label_counts_, Y[weights > 0].sum(axis=0))
    assert model.n_counted_ == 40
    online = OPLT(n_jobs=1).partial_fit(X[:20], Y[:20, :3])
    online.save(tmp_path / "model")
    learned = np.vstack([Y.toarray(), Y[:1].toarray()])
    learned[:20, 3:] = 0
    learned[60, 2:] = 0
    for other in (online, OPLT.load(tmp_path / "model")):
        with pytest.raises(XmlcError):
            other.partial_fit(X[:5], Y[:4])
        other.partial_fit(X[20:], Y[20:]).partial_fit(X[:1], Y[:1, :2])
        np.testing.assert_array_equal(other.label_counts_, learned.sum(axis=0))
        assert other.n_counted_ == other.to_plt().n_counted_ == 61


def test_model_without_counts_asks_for_training(multilabel, tmp_path):
    X, Y = multilabel(150, 10, 5)
    model = PLT(n_jobs=1).fit(X, Y)
    model.label_counts_ = None
    model.save(tmp_path / "model")
    for one in (model, PLT.load(tmp_path / "model")):
        with raises_with(XmlcError, "counts", "prior"):
            one.predict(X, measure="macro_f")
