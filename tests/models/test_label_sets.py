"""Label sets without thresholds: for each instance, the set with the largest expected F."""

import itertools
import warnings
from copy import copy

import numpy as np
import pandas as pd
import pytest
from facts import raises_with
from scipy import sparse
from small_models import OURS, small

from xmlc import TextClassifier
from xmlc.core.errors import XmlcError
from xmlc.inference import meuf
from xmlc.kernels.estimator import InvalidParameterError
from xmlc.models import OPLT, PLT, Stacking, label_sets
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.stacking import held_out_parts, log_shares
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
        estimates = label_sets.estimates_of_sets(model, X)
        np.testing.assert_array_equal(
            estimates.toarray(), np.where(expected.toarray(), spe.toarray(), 0)
        )
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
    np.testing.assert_array_equal(
        PLT(n_jobs=1).fit(X, Y).predict(X.toarray().tolist()).toarray(), expected
    )
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
        spe = one.predict_proba(X, label_sets.MIN_PROBABILITY).toarray()
        found = one.predict(X).toarray()
        for p, chosen in zip(spe, found):
            order = np.argsort(-p, kind="stable")
            values = [expected_f(p, order[: k + 1]) for k in range(p.size) if p[order[k]] > 0]
            expected = sorted(order[: int(np.argmax(values)) + 1]) if values else []
            assert chosen.nonzero()[0].tolist() == expected
    assert not model.fit(X, Y).all_labelled_


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


WEIGHTED = ["plt", "parabel", "br", "pcc", "swnn", "stacking"]


@pytest.mark.parametrize("name", OURS)
def test_sets_may_be_empty_only_if_a_counted_instance_lacks_labels(name, multilabel, tmp_path):
    X, Y, labelled = labelled_data(multilabel)
    model = small(name)
    assert not model.fit(X, Y).all_labelled_
    assert model.fit(X[labelled], Y[labelled]).all_labelled_
    stored_zeros = Y[labelled].astype(np.int8)
    stored_zeros.data[: stored_zeros.indptr[1]] = 0  # the first instance has no label
    assert not model.fit(X[labelled], stored_zeros).all_labelled_
    if name in WEIGHTED:
        weights = np.where(np.arange(42) < 40, 0.5, 0)
        assert model.fit(X, Y, sample_weight=weights).all_labelled_
        assert not model.fit(X, Y, sample_weight=np.where(np.arange(42) == 0, 0, 1)).all_labelled_
        assert model.fit_to_disk(tmp_path / "model", X, Y, sample_weight=weights).all_labelled_
        assert type(model).load(tmp_path / "model").all_labelled_


def test_members_of_stacking_ignore_instances_of_weight_0(multilabel):
    X, Y, _ = labelled_data(multilabel)
    model = Stacking(n_jobs=1).fit(X, Y, sample_weight=np.where(np.arange(42) < 40, 1, 0))
    assert all(member.all_labelled_ for member in model.members_.values())
    assert np.diff(model.predict(X).indptr).min() > 0


@pytest.mark.parametrize("batch", [1, 7, 40])
def test_streams_know_whether_all_instances_so_far_have_labels(batch, multilabel, tmp_path):
    X, Y, labelled = labelled_data(multilabel)
    model = OPLT(n_jobs=1)
    for start in range(0, labelled.size, batch):
        rows = labelled[start : start + batch]
        model.partial_fit(X[rows], Y[rows])
        model.partial_fit(X[:0], Y[:0])
        assert model.all_labelled_
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


def test_fit_and_stream_of_the_same_instances_agree_about_labels(multilabel):
    X, Y, labelled = labelled_data(multilabel)
    whole = OPLT(online=True, epochs=1, n_jobs=1)
    assert whole.fit(X[labelled], Y[labelled]).all_labelled_
    assert not whole.partial_fit(X[-1:], Y[-1:]).all_labelled_
    assert whole.fit(X[labelled], Y[labelled]).all_labelled_
    assert not OPLT(n_jobs=1).partial_fit(X, Y).all_labelled_
    first = OPLT(n_jobs=1).partial_fit(X[-1:], Y[-1:])
    assert not first.partial_fit(X[labelled], Y[labelled]).all_labelled_


def test_streams_of_texts_give_each_text_a_label():
    texts = [f"w{i % 7} w{i % 5} x{i}" for i in range(60)]
    model = TextClassifier().partial_fit(texts[:30], [[f"l{i % 7}"] for i in range(30)])
    model.partial_fit(texts[30:], [[f"l{i % 7}"] for i in range(30, 60)])
    assert min(map(len, model.predict(texts))) > 0
    assert not model.partial_fit(["w1"], [[]]).estimator_.all_labelled_


class Shares(SparseProbabilityEstimator):
    """Estimate each label by its share of the instances."""

    def fit(self, X, Y, sample_weight=None):
        X, Y, weights = self._weighted_data(X, Y, sample_weight)
        self.shares_ = Y.T @ weights / weights.sum()
        return self


def test_own_estimators_follow_the_same_rule(multilabel):
    X, Y, _ = labelled_data(multilabel)
    assert Shares().fit(X, Y, sample_weight=np.where(np.arange(42) < 40, 1, 0)).all_labelled_
    assert not Shares().fit(X, Y).all_labelled_


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
    for other in (online, OPLT.load(tmp_path / "model")):
        with pytest.raises(XmlcError):
            other.partial_fit(X[:5], Y[:4])
        other.partial_fit(X[20:], Y[20:]).partial_fit(X[:1], Y[:1, :2])
        counts = np.array(Y[20:].sum(axis=0))
        counts[:3] += Y[:20, :3].sum(axis=0)
        counts[:2] += Y[:1, :2].sum(axis=0)
        np.testing.assert_array_equal(other.label_counts_, counts)
        assert other.n_counted_ == other.to_plt().n_counted_ == 61


def test_model_without_counts_asks_for_training(multilabel, tmp_path):
    X, Y = multilabel(150, 10, 5)
    model = PLT(n_jobs=1).fit(X, Y)
    model.label_counts_ = None
    model.save(tmp_path / "model")
    for one in (model, PLT.load(tmp_path / "model")):
        with raises_with(XmlcError, "counts", "prior"):
            one.predict(X, measure="macro_f")


def test_stacking_keeps_estimates_of_held_out_instances(multilabel):
    X, Y = multilabel(60, 10, 5)
    given = [("near", "swnn"), ("tree", "plt")]
    model = Stacking(given, n_jobs=1).fit(X, Y)
    rows, spe = model._held_out
    assert spe.shape == (60, 5)
    starts = range(0, 60, 12)
    for start, (part, held_out) in zip(starts, held_out_parts(60, 2000, 0), strict=True):
        np.testing.assert_array_equal(rows[start : start + 12], held_out)
        of_part = copy(model)
        of_part.log_shares_ = log_shares(Y[part], np.ones(48))
        of_part.members_ = {
            name: own.unfitted().fit(X[part], Y[part]) for name, own in model.members_.items()
        }
        estimates = of_part.predict_proba(X[held_out])
        np.testing.assert_array_equal(spe[start : start + 12].toarray(), estimates.toarray())
    assert Stacking(n_jobs=1, n_held_out=0).fit(X, Y)._held_out is None
