"""What estimators can do beyond fitting and predicting: which have the members of which protocol."""

import pickle

import numpy as np
import pytest
from joblib import Parallel, delayed
from small_models import OURS, SMALL

from xmlc.core.errors import InvalidDataError
from xmlc.core.growing import NotFiniteError
from xmlc.kernels import csr
from xmlc.kernels.csr import as_features, kernel_csr, unit_rows
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


def shown(model):
    return tuple(name for name in ABILITIES if isinstance(model, getattr(abilities, name)))


def test_what_estimators_can_do_shows_before_they_are_fitted():
    assert ABLE.items() <= {name: shown(estimator_class(name)()) for name in ESTIMATORS}.items()


@pytest.mark.parametrize("name", [*OURS, "oracle", "estimates"])
def test_an_estimator_can_do_the_same_once_it_is_fitted_and_has_no_costs_before_a_prediction(name):
    rng = np.random.default_rng(0)
    model = estimator_class(name)(**SMALL.get(name, {}))
    assert model.inner_products_ is None
    before = shown(model)
    assert shown(model.fit(rng.random((30, 6)), rng.random((30, 5)) < 0.4)) == before


def test_a_model_of_ones_own_is_a_forest_by_its_members_alone():
    class Grove(SparseProbabilityEstimator):
        def __init__(self, n_trees=2):
            self.n_trees = n_trees

        def trees(self, n):
            return self

    class Bush(SparseProbabilityEstimator):
        pass

    assert shown(Grove()) == ("Forest",)
    assert shown(Bush()) == ()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_instances_are_scaled_to_unit_length_piece_by_piece(multilabel, monkeypatch, n_jobs):
    X = as_features(multilabel(90, 20, 5)[0])
    for own in map(as_features, (X, X[:0], X[:, :0])):
        with monkeypatch.context() as patch:
            patch.setattr(csr, "NONZEROS_PER_PIECE", 10)
            found = FastXML(unit_norm=True, n_jobs=n_jobs)._kernel_form(own)
        for array, expected in zip(found, kernel_csr(unit_rows(own)), strict=True):
            np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize("name", OURS)
def test_a_model_that_is_fitted_to_a_folder_is_the_one_that_is_fitted_and_saved(name, multilabel, tmp_path):
    X, Y = multilabel(150, 20, 8)
    estimator, given = estimator_class(name), SMALL.get(name, {})
    estimator(**given).fit(X, Y).save(tmp_path / "saved")
    model = estimator(**given).fit_to(tmp_path / "fitted", X, Y)
    saved, fitted = (
        {file.relative_to(tmp_path / at): file.read_bytes() for file in (tmp_path / at).rglob("*") if file.is_file()}
        for at in ("saved", "fitted")
    )
    assert saved == fitted
    assert (model.predict_proba(X) != estimator.load(tmp_path / "saved").predict_proba(X)).nnz == 0


@pytest.mark.parametrize("name", ["plt", "fastxml", "swnn", "pcc"])
def test_estimates_of_some_instances_at_a_time_are_those_of_all(name, multilabel):
    X, Y = multilabel(60, 20, 8)
    model, blocks = estimator_class(name)(**SMALL.get(name, {})).fit(X, Y), []
    expected, products = model.predict_proba(X, 0.05), model.inner_products_
    model.estimate_blocks(X, 0.05, 7, blocks.append)
    np.testing.assert_array_equal(np.vstack([block.toarray() for block in blocks]), expected.toarray())
    np.testing.assert_array_equal(model.inner_products_, products)


def test_a_model_that_is_fitted_to_a_folder_goes_to_other_processes(multilabel, tmp_path):
    X, Y = multilabel(150, 20, 8)
    model = FastXML(n_trees=2).fit_to(tmp_path / "model", X, Y)
    expected = model.predict_top_k(X, 3)[0]
    (found,) = Parallel(2)([delayed(FastXML.predict_top_k)(model, X, 3)])
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_top_k(X, 3)[0], expected)


def test_a_map_of_the_users_keeps_what_was_changed_in_it(multilabel, tmp_path):
    X, Y = multilabel(150, 20, 8)
    X = as_features(X)
    np.save(tmp_path / "indices.npy", X.indices[::-1])
    indices = np.load(tmp_path / "indices.npy", mmap_mode="c")
    indices[:] = X.indices
    X.indices = indices
    expected = X.toarray()
    FastXML(n_trees=2).fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(X.toarray(), expected)


def test_labels_without_instances_have_tail_classifiers_of_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("xmlc.models.tail_classifiers.NONZEROS_PER_PIECE", 1)
    X, Y = np.eye(6, dtype=np.float32), np.zeros((6, 4))
    Y[:, 0] = 1
    model = FastXML(n_trees=1, propensity_weighted=True, alpha=0.8)
    labels = model.fit_to(tmp_path / "model", X, Y).predict_top_k(X, 1)[0]
    np.testing.assert_array_equal(FastXML.load(tmp_path / "model").predict_top_k(X, 1)[0], labels)
    assert (labels == 0).all()


CACHES = ("inner_products_", "certified_", "_plt")  # set by predictions


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, NotFiniteError])
def test_a_fit_that_ends_early_leaves_the_estimator_as_it_was(name, error, multilabel, monkeypatch):
    X, Y = multilabel(150, 20, 8)
    model, fresh = (estimator_class(name)(**SMALL.get(name, {})) for _ in range(2))
    model.fit(X, Y)
    state, expected = dict(vars(model)), model.predict_proba(X)
    checked = SparseProbabilityEstimator._training_data

    def then_fail(self, X, Y):
        checked(self, X, Y)
        raise error

    monkeypatch.setattr(SparseProbabilityEstimator, "_training_data", then_fail)
    for one in (model, fresh):
        with pytest.raises(InvalidDataError if error is NotFiniteError else error):
            one.fit(X[:, 1:], Y[:, 1:])
    assert not fresh._is_fitted()
    assert vars(model).keys() >= state.keys()
    assert all(vars(model)[key] is state[key] for key in state if key not in CACHES)
    assert (model.predict_proba(X) != expected).nnz == 0
