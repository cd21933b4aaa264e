"""With true posteriors, of sets like the demo's: expected macro-F is the macro-F found, and no method finds more."""

from statistics import fmean

import numpy as np
import pytest

from xmlc.data.synthetic.labels import SyntheticModel
from xmlc.inference import fit_size_weights, gfm_sizes, lewis, meuf
from xmlc.metrics import macro_f
from xmlc.suite.results.intervals import estimate_of
from xmlc.thresholds import ExpectedF, apply_thresholds, priors, tune

VALIDATION, TEST = (6400, 8000), (8000, 12000)
SEEDS = range(5)
TUNED = "fta", "sto", "ofo", "for-micro-f", "for-instance-f"
BUDGETS = 3, 4, 5, 7
SCALES = 0.67, 0.8, 1.25, 1.5  # of the thresholds, which are then too low or too high


def label_sets(validation, test):
    """Yield the name and the predictions of each method, with posteriors for estimates."""
    (Y, spe_val), (_, spe) = validation, test
    method = ExpectedF().fit(spe)
    yield "ours", method.predict(spe)
    yield "fitted on other instances", ExpectedF().fit(spe_val).predict(spe)
    for scale in SCALES:
        yield f"scaled by {scale}", apply_thresholds(spe, np.minimum(method.thresholds_ * np.float32(scale), 1))
    for name in TUNED:
        yield name, apply_thresholds(spe, tune(name, spe_val, Y, priors(Y)).thresholds)
    yield "0.5", apply_thresholds(spe, 0.5)
    dense = spe.toarray()
    for k in BUDGETS:
        yield f"top {k}", (dense >= np.sort(dense, axis=1)[:, [-k]]) & (dense > 0)
    yield "lewis", lewis(spe)[0]
    yield "meuf", meuf(spe)[0]
    yield "gfm-sizes", gfm_sizes(spe, fit_size_weights(spe_val, Y))[0]


@pytest.fixture(scope="module")
def scores():
    """Of each seed the macro-F in percent of each method, and what ours is expected to be."""
    found = []
    for seed in SEEDS:
        model = SyntheticModel(5000, 500, labels_per_instance=4.0, nonzeros=40, seed=seed)
        validation, test = (model.draw(*rows)[1:] for rows in (VALIDATION, TEST))
        assert test[0].sum(axis=0).all()  # so that the conventions for 0/0 agree
        of_seed = {name: 100 * macro_f(test[0], sets) for name, sets in label_sets(validation, test)}
        found.append(of_seed | {"expected": 100 * fmean(ExpectedF().fit(test[1]).expected_)})
    return found


def test_no_method_finds_more(scores):
    for rival in scores[0].keys() - {"ours", "expected"}:
        assert estimate_of([of_seed["ours"] - of_seed[rival] for of_seed in scores]).lower > 0, rival


def test_the_expected_is_found(scores):
    surplus = estimate_of([of_seed["ours"] - of_seed["expected"] for of_seed in scores])
    assert surplus.side_of(0) == 0
    assert surplus.upper - surplus.lower < 1.5
