"""Protocols of estimators beyond fitting and predicting."""

import pickle

import numpy as np
import pytest
from facts import contents
from joblib import Parallel, delayed
from scipy import sparse
from small_data import equal_bits
from small_models import OURS, small

from xmlc.kernels.csr import as_features
from xmlc.models import FastXML, abilities
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import estimator_class

ABLE = {
    "fastxml": abilities.Forest,
    "ldsm": abilities.Forest,
    "oplt": abilities.Streaming,
    "pcc": abilities.DrawsSamples,
    "vw-cmt": abilities.Streaming,
}


class Grove(SparseProbabilityEstimator):
    def __init__(self, n_trees=2):
        self.n_trees = n_trees

    def trees(self, n):
        return self


def test_protocols_are_visible_before_fit():
    assert isinstance(Grove(), abilities.Forest)
    for name, protocol in ABLE.items():
        assert isinstance(estimator_class(name)(), protocol)
        assert not isinstance(small("plt"), protocol)


@pytest.mark.parametrize("name", OURS)
def test_model_fitted_to_disk_equals_saved_model(name, multilabel, tmp_path):
    X, Y = multilabel(60, 20, 8)
    small(name).fit(X, Y).save(tmp_path / "saved")
    model = small(name).fit_to_disk(tmp_path / "fitted", X, Y)
    assert contents(tmp_path / "fitted") == contents(tmp_path / "saved")
    loaded = type(model).load(tmp_path / "saved")
    assert equal_bits(model.predict_proba(X), loaded.predict_proba(X))


@pytest.mark.parametrize("name", ["plt", "fastxml", "swnn", "pcc"])
def test_estimates_in_blocks_equal_estimates_of_all_instances(name, multilabel):
    X, Y = multilabel(60, 20, 8)
    model = small(name).fit(X, Y)
    expected = model.predict_proba(X, 0.05)
    products = model.inner_products_
    blocks = []
    model.estimate_blocks(X, 0.05, 7, blocks.append)
    assert equal_bits(sparse.vstack(blocks, format="csr"), expected)
    np.testing.assert_array_equal(model.inner_products_, products)


def test_model_fitted_to_disk_can_be_sent_to_other_processes(multilabel, tmp_path):
    X, Y = multilabel(60, 20, 8)
    model = FastXML(n_trees=2).fit_to_disk(tmp_path / "model", X, Y)
    expected = model.predict_top_k(X, 3)
    (found,) = Parallel(2)([delayed(FastXML.predict_top_k)(model, X, 3)])
    np.testing.assert_array_equal(found, expected)
    pickled = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(pickled.predict_top_k(X, 3), expected)


def test_fit_keeps_changes_in_copy_on_write_input(multilabel, tmp_path):
    X, Y = multilabel(150, 20, 8)
    X = as_features(X)
    np.save(tmp_path / "indices.npy", X.indices[::-1])
    indices = np.load(tmp_path / "indices.npy", mmap_mode="c")
    indices[:] = X.indices
    X.indices = indices
    expected = X.toarray()
    FastXML(n_trees=2).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(X.toarray(), expected)


CACHES = ("inner_products_", "certified_", "_plt")  # Predictions set these attributes.


@pytest.mark.parametrize("name", OURS)
def test_failed_fit_leaves_estimator_unchanged(name, multilabel, monkeypatch):
    X, Y = multilabel(60, 20, 8)
    model = small(name).fit(X, Y)
    fresh = small(name)
    state = {key: value for key, value in vars(model).items() if key not in CACHES}
    expected = model.predict_proba(X)
    checked = SparseProbabilityEstimator._training_data

    def then_fail(self, X, Y):
        checked(self, X, Y)
        raise KeyboardInterrupt

    monkeypatch.setattr(SparseProbabilityEstimator, "_training_data", then_fail)
    for one in (model, fresh):
        with pytest.raises(KeyboardInterrupt):
            one.fit(X[:, 1:], Y[:, 1:])
    assert not fresh._is_fitted()
    assert all(vars(model)[key] is value for key, value in state.items())
    assert equal_bits(model.predict_proba(X), expected)
