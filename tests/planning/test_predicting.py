"""How long models predict."""

import pytest
from planning_cases import LARGE, SMALL

from xmlc.planning.estimators import DEFAULTS, LAWS
from xmlc.planning.predicting import predicting_seconds


@pytest.mark.parametrize("name", LAWS)
def test_seconds_are_in_proportion_to_instances(name):
    given = DEFAULTS.get(name, {})
    one, two = (predicting_seconds(name, given, LARGE, n) for n in (1e5, 2e5))
    assert two == pytest.approx(2 * one)
    assert one > predicting_seconds(name, given, SMALL, 1e5) or name == "oracle"


@pytest.mark.parametrize("beam", [2, 10])
def test_a_beam_or_a_threshold_leaves_nodes_out(beam):
    given = DEFAULTS["plt"]
    exact = predicting_seconds("plt", given, LARGE, 1e4)
    assert predicting_seconds("plt", given | {"search": "beam", "beam": beam}, LARGE, 1e4) < exact
    assert predicting_seconds("plt", given | {"search": "exact"}, LARGE, 1e4) > exact
    high, low, no = (predicting_seconds("plt", given, LARGE, 1e4, floor) for floor in (0.1, 1e-4, 0.0))
    assert high < low < no


def test_weights_that_are_found_one_by_one_take_longer():
    given = DEFAULTS["plt"]
    dense = predicting_seconds("plt", given, LARGE, 1e4)
    assert predicting_seconds("plt", given | {"weight_cut": 0.1}, LARGE, 1e4) > dense
    assert predicting_seconds("plt", given | {"hash_bits": 24}, LARGE, 1e4) > dense
    assert predicting_seconds("plt", given, LARGE, 1e4, model_bytes=1e10) > dense


@pytest.mark.parametrize("name", ["fastxml", "ldsm"])
def test_every_tree_counts(name):
    one, ten = (predicting_seconds(name, DEFAULTS[name] | {"n_trees": n}, SMALL, 100.0) for n in (1, 10))
    assert ten == pytest.approx(10 * one)
