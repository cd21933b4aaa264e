"""Protocols of estimators beyond fitting and predicting."""

import pickle

import numpy as np
import pytest
from facts import contents
from joblib import Parallel, delayed
from small_models import OURS, SMALL

from xmlc.core.errors import InvalidDataError
from xmlc.kernels import unit_length
from xmlc.kernels.csr import as_features, kernel_csr
from xmlc.kernels.unit_length import unit_rows
from xmlc.models import FastXML, abilities
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import ESTIMATORS, estimator_class

ABILITIES = ("Forest", "Streaming", "DrawsSamples")
ABLE = {
    "fastxml": ("Forest",),
    "ldsm": ("Forest",),
    "oplt": ("Streaming",),
    "pcc": ("DrawsSamples",),
    "vw-cmt": ("Streaming",),
}


def protocols_of(model):
    return tuple(name for name in ABILITIES if isinstance(model, getattr(abilities, name)))


def test_protocols_are_visible_before_fit():
    assert (
        ABLE.items() <= {name: protocols_of(estimator_class(name)()) for name in ESTIMATORS}.items()
    )


@pytest.mark.parametrize("name", [*OURS, "oracle", "estimates"])
def test_unfitted_model_has_no_costs_and_fit_keeps_protocols(name):
    rng = np.random.default_rng(0)
    model = estimator_class(name)(**SMALL.get(name, {}))
    assert model.inner_products_ is None
    before = protocols_of(model)
    assert protocols_of(model.fit(rng.random((30, 6)), rng.random((30, 5)) < 0.4)) == before


def test_custom_model_is_a_forest_if_it_has_trees():
    class Grove(SparseProbabilityEstimator):
        def __init__(self, n_trees=2):
            self.n_trees = n_trees

        def trees(self, n):
            return self

    class Bush(SparseProbabilityEstimator):
        pass

    assert protocols_of(Grove()) == ("Forest",)
    assert protocols_of(Bush()) == ()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_instances_are_scaled_to_unit_length_in_pieces(multilabel, monkeypatch, n_jobs):
    X = as_features(multilabel(90, 20, 5)[0])
    for own in map(as_features, (X, X[:0], X[:, :0])):
        with monkeypatch.context() as patch:
            patch.setattr(unit_length, "NONZEROS_PER_TASK", 10)
            found = FastXML(unit_norm=True, n_jobs=n_jobs)._kernel_form(own)
        for array, expected in zip(found, kernel_csr(unit_rows(own)), strict=True):
            np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("name", OURS)
def test_model_fitted_to_disk_equals_saved_model(name, multilabel, tmp_path):
    X, Y = multilabel(150, 20, 8)
    estimator = estimator_class(name)
    given = SMALL.get(name, {})
    estimator(**given).fit(X, Y).save(tmp_path / "saved")
    model = estimator(**given).fit_to_disk(tmp_path / "fitted", X, Y)
    saved = contents(tmp_path / "saved")
    fitted = contents(tmp_path / "fitted")
    assert saved == fitted
    assert (model.predict_proba(X) != estimator.load(tmp_path / "saved").predict_proba(X)).nnz == 0


@pytest.mark.parametrize("name", ["plt", "fastxml", "swnn", "pcc"])
def test_estimates_in_blocks_equal_estimates_of_all_instances(name, multilabel):
    X, Y = multilabel(60, 20, 8)
    model = estimator_class(name)(**SMALL.get(name, {})).fit(X, Y)
    blocks = []
    expected = model.predict_proba(X, 0.05)
    products = model.inner_products_
    model.estimate_blocks(X, 0.05, 7, blocks.append)
    np.testing.assert_array_equal(
        np.vstack([block.toarray() for block in blocks]), expected.toarray()
    )
    np.testing.assert_array_equal(model.inner_products_, products)


def test_model_fitted_to_disk_can_be_sent_to_other_processes(multilabel, tmp_path):
    X, Y = multilabel(150, 20, 8)
    model = FastXML(n_trees=2).fit_to_disk(tmp_path / "model", X, Y)
    expected = model.predict_top_k(X, 3)[0]
    (found,) = Parallel(2)([delayed(FastXML.predict_top_k)(model, X, 3)])
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(model)).predict_top_k(X, 3)[0], expected
    )


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


def test_labels_without_instances_have_empty_tail_classifiers(tmp_path, monkeypatch):
    monkeypatch.setattr("xmlc.models.trees.representations.NONZEROS_PER_TASK", 1)
    X = np.eye(6, dtype=np.float32)
    Y = np.zeros((6, 4))
    Y[:, 0] = 1
    model = FastXML(n_trees=1, propensity_weighted=True, alpha=0.8)
    labels = model.fit_to_disk(tmp_path / "model", X, Y).predict_top_k(X, 1)[0]
    np.testing.assert_array_equal(FastXML.load(tmp_path / "model").predict_top_k(X, 1)[0], labels)
    assert (labels == 0).all()


CACHES = ("inner_products_", "certified_", "_plt")  # Predictions set these attributes.


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, InvalidDataError])
def test_failed_fit_leaves_estimator_unchanged(name, error, multilabel, monkeypatch):
    X, Y = multilabel(150, 20, 8)
    model, fresh = (estimator_class(name)(**SMALL.get(name, {})) for _ in range(2))
    model.fit(X, Y)
    state = dict(vars(model))
    expected = model.predict_proba(X)
    checked = SparseProbabilityEstimator._training_data

    def then_fail(self, X, Y):
        checked(self, X, Y)
        raise error

    monkeypatch.setattr(SparseProbabilityEstimator, "_training_data", then_fail)
    for one in (model, fresh):
        with pytest.raises(error):
            one.fit(X[:, 1:], Y[:, 1:])
    assert not fresh._is_fitted()
    assert vars(model).keys() >= state.keys()
    assert all(vars(model)[key] is state[key] for key in state if key not in CACHES)
    assert (model.predict_proba(X) != expected).nnz == 0
