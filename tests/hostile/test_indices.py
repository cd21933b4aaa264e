"""Index arrays that lead out of their matrix are refused by whatever takes a matrix; no process ends by a signal."""

import pytest
from hostile_cases import in_child

from xmlc.models.registry import ESTIMATORS

OURS = [name for name in ESTIMATORS if "-" not in name and name != "oracle"]


@pytest.mark.parametrize("name", OURS)
def test_an_estimator_refuses_matrices_that_lead_out_of_themselves(name):
    lines = in_child("probe_estimator.py", name)
    assert len(lines) > 240
    assert [line for line in lines if line.startswith("WRONG")] == []


def test_functions_refuse_matrices_that_lead_out_of_themselves():
    lines = in_child("probe_functions.py")
    assert len(lines) > 840
    assert [line for line in lines if line.startswith("WRONG")] == []
