"""Estimators by name: the package's, and a user's own file."""

import numpy as np
import pytest

from xmlc.core.errors import XmlcError
from xmlc.models.plt import PLT
from xmlc.models.registry import ESTIMATORS, estimator_class, estimator_files, make_estimator

OWN_MODEL = '''
"""Estimates every label by its frequency."""
import numpy as np
from scipy import sparse
from xmlc.models.base import SparseProbabilityEstimator


class Frequencies(SparseProbabilityEstimator):
    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, X, Y):
        X, Y = self._training_data(X, Y)
        self.frequencies_ = (self.scale * Y.sum(axis=0) / Y.shape[0]).astype(np.float32)
        return self

    def predict_proba(self, X, threshold=0.0):
        row = np.where(self.frequencies_ > self._label_thresholds(threshold), self.frequencies_, 0)
        return sparse.csr_array(np.tile(row, (X.shape[0], 1)))
'''


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_name_leads_to_an_estimator(name):
    cls = estimator_class(name)
    assert set(cls().get_params()) == set(cls(**cls().get_params()).get_params())
    assert estimator_files(name)


def test_estimator_is_made_from_configuration():
    model = make_estimator("plt", {"arity": 4, "gamma": 0.5}, seed=7, n_jobs=2)
    assert isinstance(model, PLT)
    assert (model.arity, model.gamma, model.random_state, model.n_jobs) == (4, 0.5, 7, 2)


def test_typos_are_named():
    with pytest.raises(XmlcError, match=r"no hyperparameter gama; expected any of .*gamma"):
        make_estimator("plt", {"gama": 1}, seed=0)
    with pytest.raises(XmlcError, match=r"'ptl' is unknown; expected one of .*plt"):
        make_estimator("ptl", {}, seed=0)


def test_a_users_own_file_is_an_estimator(tmp_path, multilabel):
    file = tmp_path / "frequencies.py"
    file.write_text(OWN_MODEL)
    X, Y = multilabel(30, 6, 4)
    model = make_estimator(f"{file}:Frequencies", {"scale": 0.5}, seed=0).fit(X, Y)
    assert model.predict_proba(X).shape == (30, 4)
    labels, scores = model.predict_top_k(X, 2)  # fit and predict_proba are all that a model needs
    np.testing.assert_array_equal(scores[0], -np.sort(-model.frequencies_)[:2])
    np.testing.assert_array_equal(model.frequencies_[labels[0]], scores[0])
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X).toarray(), model.predict_proba(X).toarray())
    assert estimator_files(f"{file}:Frequencies") == [str(file)]
    with pytest.raises(XmlcError, match="derived from"):
        estimator_class(f"{file}:np")
    with pytest.raises(XmlcError, match="no such Python file"):
        estimator_class("nowhere.py:Model")
    (tmp_path / "needy.py").write_text("import not_installed\n")
    with pytest.raises(XmlcError, match=r"needy\.py: it cannot be imported \(No module named 'not_installed'\)"):
        estimator_class(f"{tmp_path}/needy.py:Mine")
