"""Claims of ldsm2020 about its objective, on levels of trees made by hand; lambda_1 = 2, lambda_2 = 1 and M = 2."""

import ldsm_twin as twin
import numpy as np
import pytest
from record_files import as_record
from report_cases import forest

from xmlc.papers.ldsm2020 import theory


def objectives(*levels, hyperparameters=None):
    """Records of a tree with a mean, lowest and highest J of each level after the last pass, 2 nodes below the root."""
    parts = [
        {"tree": 0, "level": level, "nodes": min(level, 2)}
        | {"minimum": [0.5, low], "mean": [0.5, mean], "maximum": [0.5, high]}
        for level, (low, mean, high) in enumerate(levels, 1)
    ]
    records = [forest(seed=seed, objectives=parts) for seed in (0, 1, 2)]
    for record in records:
        record["hyperparameters"] |= hyperparameters or {}
    return [as_record(record) for record in records]


def decided(claim, records):
    """Effect and verdict of a claim."""
    outcome = claim.outcome(records)
    return pytest.approx(outcome.effect.mean, nan_ok=True), outcome.word


@pytest.mark.parametrize("arity", [2, 3, 4, 5])
@pytest.mark.parametrize("lambda_2", [0.5, 1.0, 2.5, 4.5])
def test_lemma_1_tells_when_one_direction_for_each_label_is_best(arity, lambda_2):
    """Equation (19): balanced splits, label i going in the n directions from the i-th on."""
    values = []
    for n in range(1, arity + 1):
        P_i = np.array([[(j - i) % arity < n for i in range(arity)] for j in range(arity)], dtype=float)
        values.append(twin.objective(P_i.mean(axis=1), P_i, [1 / arity] * arity, 2.0, lambda_2))
    assert (values[0] < min(values[1:]) - 1e-9) == theory.lemma_1_holds(arity, 2.0, lambda_2)


def test_the_root_beside_the_nodes_below():
    # Of the nodes below 2 have -0.5 and 2 have -1.
    below = ((-0.5, -0.5, -0.5), (-1, -1, -1))
    assert decided(theory.root_is_hardest, objectives((-0.25,) * 3, *below)) == (0.5, "holds")
    assert decided(theory.root_is_hardest, objectives((-1.0,) * 3, *below)) == (-0.25, "does not hold")
    assert decided(theory.root_is_hardest, objectives((-1.0,) * 3))[1] == "no data"


def test_bounds_of_the_objective():
    # Between -2 and 1.
    claim = theory.bounds_of_the_objective
    assert decided(claim, objectives((-1.75, 0, 0.5))) == (0.25, "holds")
    assert decided(claim, objectives((-2, 0, 0.5))) == (0, "holds")
    assert decided(claim, objectives((-1.75, 0, 1.25))) == (-0.25, "does not hold")
    assert decided(claim, objectives((-2.5, 0, 0.5))) == (-0.5, "does not hold")
    wide = {"arity": 4, "lambda_2": 2}  # not above (M - 3) lambda_1
    assert decided(claim, objectives((-1, 0, 0), hyperparameters=wide))[1] == "no data"


def test_lemma_3_where_its_condition_holds():
    claim = theory.bound_of_the_purity
    assert decided(claim, objectives((-0.75, 0, 0))) == (0.25, "holds")
    assert decided(claim, objectives((-2, 0, 0))) == (-1, "does not hold")
    for lambda_2 in (0.5, 2.5):
        assert decided(claim, objectives((-2, 0, 0), hyperparameters={"lambda_2": lambda_2}))[1] == "no data"
