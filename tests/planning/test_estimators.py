"""What training comes to: the estimators' defaults, and growth with every size."""

import inspect

import pytest
from planning_cases import LARGE, SIZES, SMALL, larger

from xmlc.models.registry import ESTIMATORS, estimator_class
from xmlc.planning.estimators import DEFAULTS, LAWS, kind_of, trained

OWN = [name for name in LAWS if name != "oracle"]


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_the_estimators_own(name):
    signature = inspect.signature(estimator_class(name)).parameters
    assert {key: signature[key].default for key in DEFAULTS[name]} == DEFAULTS[name]


def test_every_estimator_has_a_law():
    assert {name: kind_of(name) for name in ESTIMATORS if name in LAWS} == {name: name for name in LAWS}
    assert kind_of("napkinxc-plt") == "plt"
    assert kind_of("some/file.py:Mine") == "swnn"
    for name in ESTIMATORS:
        assert min(trained(name, {}, SMALL)) >= 0


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("size", [name for name in SIZES if name != "n_test"])
def test_costs_never_fall_as_a_size_grows(name, size):
    small, large = trained(name, {}, SMALL), trained(name, {}, larger(SMALL, size))
    assert large.seconds >= small.seconds
    assert large.model_bytes >= 0.999 * small.model_bytes
    assert large.working_bytes >= 0.999 * small.working_bytes


@pytest.mark.parametrize(
    ("name", "key", "low", "high"),
    [
        ("plt", "epochs", 1, 10),
        ("plt", "hash_bits", 20, 24),
        ("parabel", "n_trees", 1, 3),
        ("fastxml", "n_trees", 1, 50),
        ("ldsm", "max_nodes", 100, 1000),
        ("ldsm", "n_trees", 1, 50),
    ],
)
def test_costs_grow_with_hyperparameters(name, key, low, high):
    small, large = (trained(name, {key: value}, SMALL) for value in (low, high))
    assert sum(small) < sum(large)
    assert all(a <= b for a, b in zip(small, large))


def test_a_cut_leaves_less_than_all_weights():
    dense, kept = (trained("plt", {"tree": "random", "weight_cut": cut}, LARGE) for cut in (None, 0.1))
    assert kept.model_bytes < dense.model_bytes


def test_slots_of_a_large_table_take_longer():
    small, large = (trained("plt", {"tree": "random", "hash_bits": bits}, LARGE) for bits in (18, 28))
    assert large.seconds == pytest.approx(3.0 * small.seconds, rel=0.02)  # 1.1 GB: the cache doubled 8.1 times


def test_values_that_are_no_numbers_do_no_harm():
    assert trained("swnn", {"S": "labels-per-instance"}, SMALL) == trained("swnn", {}, SMALL)
    assert trained("br", {"C": [1, 2]}, SMALL) == trained("br", {}, SMALL)
