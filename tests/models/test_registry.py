"""Estimators by name: from the package and from a user's file."""

import numpy as np
import pytest
from facts import raises_with
from small_data import equal_bits

import xmlc
from xmlc.core.errors import XmlcError
from xmlc.models import Stacking
from xmlc.models.plt import PLT
from xmlc.models.registry import estimator_class, make_estimator
from xmlc.models.warm_up import check_kept

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


def test_package_exports_every_estimator():
    assert set(xmlc.models.__all__) < set(xmlc.__all__)


def test_estimator_is_created_from_configuration():
    model = make_estimator("plt", {"arity": 4, "gamma": 0.5}, seed=7, n_jobs=2)
    assert isinstance(model, PLT)
    assert (model.arity, model.gamma, model.random_state, model.n_jobs) == (4, 0.5, 7, 2)


WITH_ATTRIBUTE = """
from xmlc.models.plt import PLT
import numpy as np
{model}
        self.kept_ = None
        {keep}
        return self

    def predict_proba(self, X, threshold=0.0):
        {use}
        row = self.frequencies_.astype(np.float32)
        return sparse.csr_array(np.tile(row, (X.shape[0], 1)))
"""


def with_attribute(folder, keep, use="pass"):
    """Return the name of a custom estimator that stores an additional attribute, and the
    estimator.
    """
    begin = OWN_MODEL.partition("        return self")[0]
    (folder / "mine.py").write_text(WITH_ATTRIBUTE.format(model=begin, keep=keep, use=use))
    name = f"{folder}/mine.py:Frequencies"
    return name, make_estimator(name, {}, seed=0)


@pytest.mark.parametrize(
    "value",
    ["None", "'text'", "0.1", "['a', 1, None]", "{'a': [1, 2.5]}", "np.float32(0.1)",
     "np.array(3)", "2**70", "np.array(['a', 'b'])", "np.zeros((0, 3))"],
)  # fmt: skip
def test_attributes_set_by_fit_survive_save_and_load(value, tmp_path, multilabel):
    X, Y = multilabel(30, 6, 4)
    name, model = with_attribute(tmp_path, f"self.kept_ = {value}")
    check_kept(name, model, X, Y)
    model.fit(X, Y).save(tmp_path / "model")
    kept = type(model).load(tmp_path / "model").kept_
    assert type(kept) is type(model.kept_) or kept.ndim == 0
    assert getattr(kept, "dtype", None) == getattr(model.kept_, "dtype", None)
    assert np.array_equal(kept, model.kept_)


@pytest.mark.parametrize(
    ("keep", "mentioned"),
    [
        ("self.kept_ = PLT()", ["kept_", "PLT"]),
        ("self.kept_ = [np.zeros(2)]", ["kept_", "list"]),
        ("self.kept_ = {'a': np.zeros(2)}", ["kept_", "dict"]),
        ("self.kept_ = np.array([None, 'a'])", ["kept_", "ndarray"]),
        ("self.kept_ = float('nan')", ["kept_", "float"]),
        ("self.kept = np.zeros(2)", ["kept", "ndarray"]),
        ("self.scale = {1}", ["set", "JSON"]),
    ],
)
def test_attributes_that_cannot_be_saved_are_refused_and_leave_no_files(
    keep, mentioned, tmp_path, multilabel
):
    X, Y = multilabel(30, 6, 4)
    name, model = with_attribute(tmp_path, keep)
    with raises_with(XmlcError, "Frequencies", mentioned):
        check_kept(name, model, X, Y)
    with raises_with(XmlcError, mentioned):
        model.fit(X, Y).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("keep", "use", "mentioned"),
    [
        ("del self.n_labels_", "pass", ["fit", "n_labels_"]),
        ("pass", "return np.zeros((X.shape[0], 4))", ["predict_proba", "ndarray"]),
        ("self._kept = 1", "self._kept", ["AttributeError", "_kept"]),
        ("type(self).calls = 1",
            "type(self).calls += 1; self.frequencies_ = np.full(4, 1 / type(self).calls)",
         "estimates"),
    ],
)  # fmt: skip
def test_model_that_changes_when_loaded_is_refused(keep, use, mentioned, tmp_path, multilabel):
    with raises_with(XmlcError, mentioned):
        check_kept(*with_attribute(tmp_path, keep, use), *multilabel(30, 6, 4))


@pytest.mark.parametrize(
    "name", ["PLT", "xmlc.models:PLT", "xmlc.models.plt:PLT", "xmlc.models.plt.estimator:PLT"]
)
def test_class_of_this_package_is_known_by_its_name_and_place(name):
    assert estimator_class(name) is PLT
    member = Stacking([("member", name)]).members()["member"]
    assert member.get_params() == PLT().get_params()


def test_estimator_is_loaded_from_a_file(tmp_path, multilabel):
    file = tmp_path / "frequencies.py"
    file.write_text(OWN_MODEL)
    X, Y = multilabel(30, 6, 4)
    model = make_estimator(f"{file}:Frequencies", {"scale": 0.5}, seed=0).fit(X, Y)
    labels, scores = model.predict_top_k(X, 2)  # a model needs only fit and predict_proba
    np.testing.assert_array_equal(scores[0], -np.sort(-model.frequencies_)[:2])
    np.testing.assert_array_equal(model.frequencies_[labels[0]], scores[0])
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    assert equal_bits(loaded.predict_proba(X), model.predict_proba(X))
    (tmp_path / "needy.py").write_text("import not_installed\n")
    for path, facts in (("nowhere.py", []), (f"{tmp_path}/needy.py", ["'not_installed'"])):
        with raises_with(XmlcError, path, facts):
            estimator_class(f"{path}:Model")


def test_preset_for_rankings_is_an_estimator_and_can_be_a_member():
    member = Stacking([("a", "plt-ranking")]).members()["a"]
    assert member.get_params() == PLT.for_ranking().get_params()
    assert estimator_class("plt-ranking")().get_params() == PLT.for_ranking().get_params()
    assert make_estimator("plt-ranking", {"tol": 0.5}, 0).tol == 0.5


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("ptl", ["'ptl'", "plt"]),
        ("xmlc.models:PTL", ["PTL", "xmlc.models", "PLT"]),
        ("xmlc.models:", ["xmlc.models"]),
        ("xmlc.core:Thing", ["Thing", "xmlc.core"]),
        ("xmlc.models:lazy_names", ["lazy_names", "xmlc.models"]),
        ("sklearn.multiclass:OneVsRestClasifier", ["OneVsRestClasifier", "OneVsRestClassifier"]),
    ],
)
def test_unknown_class_is_refused_with_similar_names(name, facts):
    with raises_with(XmlcError, *facts):
        estimator_class(name)
