"""What estimators can do beyond fitting and predicting: which have the members of which protocol."""

import numpy as np
import pytest

from xmlc.csr import as_features, kernel_csr, unit_rows
from xmlc.errors import XmlcError
from xmlc.models import FastXML, base
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.registry import ESTIMATORS, estimator_class

# Shown by an estimator as it is constructed, and by one that is fitted.
BEFORE = ("Forest", "Streaming", "StreamsSets", "WarmStarting", "DrawsSamples", "LooksUp")
AFTER = ("TellsShape", "TellsObjectives", "KeepsInstances")
TABLE = {
    "plt": (),
    "parabel": (),
    "fastxml": ("Forest",),
    "ldsm": ("Forest", "TellsShape", "TellsObjectives"),
    "oplt": ("Streaming", "StreamsSets", "WarmStarting", "TellsShape"),
    "br": (),
    "pcc": ("DrawsSamples",),
    "swnn": ("KeepsInstances",),
    "oracle": ("LooksUp",),
    "napkinxc-plt": (),
    "napkinxc-br": (),
    "napkinxc-oplt": ("WarmStarting",),
    "napkinxc-iplt": (),
    "omikuji-parabel": (),
    "vw-plt": (),
    "vw-cmt": ("Streaming",),
}
OURS = [name for name in TABLE if "-" not in name]
FEW = {"fastxml": {"n_trees": 2}, "ldsm": {"n_trees": 2}, "parabel": {"n_trees": 1}, "plt": {"epochs": 1}}


def shown(model, names):
    return tuple(name for name in names if isinstance(model, getattr(base, name)))


def test_the_table_is_of_all_estimators():
    assert set(TABLE) == set(ESTIMATORS)


@pytest.mark.parametrize("name", TABLE)
def test_what_an_estimator_can_do_shows_before_it_is_fitted(name):
    model = estimator_class(name)()
    assert shown(model, BEFORE) == tuple(ability for ability in TABLE[name] if ability in BEFORE)
    assert shown(model, AFTER) == ()


@pytest.mark.parametrize("name", OURS)
def test_what_an_estimator_has_learned_shows_once_it_is_fitted(name):
    rng = np.random.default_rng(0)
    model = estimator_class(name)(**FEW.get(name, {})).fit(rng.random((30, 6)), rng.random((30, 5)) < 0.4)
    assert shown(model, (*BEFORE, *AFTER)) == tuple(n for n in (*BEFORE, *AFTER) if n in TABLE[name])


def test_a_model_of_ones_own_is_a_forest_by_its_members_alone():
    class Grove(SparseProbabilityEstimator):
        def __init__(self, n_trees=2):
            self.n_trees = n_trees

        def fit_trees(self, X, Y, first, last):
            return self

        @classmethod
        def join_trees(cls, parts):
            return parts[0]

        def trees(self, n):
            return self

    class Bush(SparseProbabilityEstimator):
        pass

    assert shown(Grove(), BEFORE) == ("Forest",)
    assert shown(Bush(), (*BEFORE, *AFTER)) == ()


def test_a_protocol_asks_a_property_once_and_passes_its_error_on():
    """`isinstance` evaluates properties: an AttributeError means no, any other error is the property's own."""

    class Broken:
        tree_depths_ = np.zeros(1)

        @property
        def n_nodes_(self):
            raise XmlcError("cannot be counted")

    with pytest.raises(XmlcError, match="cannot be counted"):
        isinstance(Broken(), base.TellsShape)


@pytest.mark.parametrize("name", OURS)
def test_inner_products_are_none_before_a_prediction(name):
    assert estimator_class(name)().inner_products_ is None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_instances_are_scaled_to_unit_length_piece_by_piece(multilabel, monkeypatch, n_jobs):
    X = as_features(multilabel(90, 20, 5)[0])
    monkeypatch.setattr(base, "NONZEROS_PER_PIECE", 10)
    for own in (X, X[:0], X[:, :0]):
        found = FastXML(unit_norm=True, n_jobs=n_jobs)._kernel_form(as_features(own))
        for array, expected in zip(found, kernel_csr(unit_rows(as_features(own))), strict=True):
            np.testing.assert_array_equal(array, expected)
