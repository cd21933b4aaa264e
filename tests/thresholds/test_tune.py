"""The sweeps over the grids of Section 6.2 and Table 4."""

import numpy as np
import pytest
from threshold_cases import random_case

from xmlc.errors import XmlcError
from xmlc.metrics import macro_f
from xmlc.thresholds import OFO, STO, apply_thresholds
from xmlc.thresholds.bounds import GRID, kappa, lower_bounds, priors
from xmlc.thresholds.tune import METHODS, TABLE_4_PAIRS, ofo_pairs, register


@pytest.fixture
def case():
    spe, Y = random_case(60, 20, seed=3, levels=50)
    return spe, Y, priors(Y)


def test_every_method_yields_one_threshold_per_label_and_grid_value(case):
    spe, Y, prior = case
    for name, sweep in METHODS.items():
        points = list(sweep(spe, Y, prior, GRID))
        assert len(points) == (len(ofo_pairs(GRID)) if name == "ofo-ab" else len(GRID))
        assert all(point.thresholds.shape == (20,) for point in points)
        assert all(point.thresholds.dtype == np.float32 for point in points)


def test_sweeps_are_the_methods_at_their_parameters(case):
    spe, Y, prior = case
    nu = lower_bounds(prior)
    for point in METHODS["sto"](spe, Y, prior, GRID):
        expected = STO(kappa=kappa(point.c, nu)).fit(spe, Y).thresholds_
        np.testing.assert_array_equal(point.thresholds, expected)
    for point in METHODS["ofo"](spe, Y, prior, GRID):
        np.testing.assert_array_equal(point.thresholds, OFO(1, point.c, nu).fit(spe, Y).thresholds_)
    for point in METHODS["fta"](spe, Y, prior, GRID):
        assert (point.thresholds == np.float32(1 / point.c)).all()


def test_label_wise_grid_grows_and_never_gets_worse_on_validation(case):
    spe, Y, prior = case
    scores = [macro_f(Y, apply_thresholds(spe, p.thresholds)) for p in METHODS["fta-labelwise"](spe, Y, prior, GRID)]
    assert (np.diff(scores) >= -1e-12).all()


def test_table_4_grid_holds_what_the_paper_prints():
    pairs = ofo_pairs(GRID)
    assert set(TABLE_4_PAIRS) <= set(pairs)
    assert {(1, c) for c in GRID} <= set(pairs)  # so tuning a as well can only help on validation
    assert all(0 < a / b <= 0.5 for a, b in pairs)
    assert len(set(pairs)) == len(pairs)


def test_a_name_is_registered_once():
    with pytest.raises(XmlcError, match="registered already"):
        register("sto")(lambda *arguments: iter(()))
