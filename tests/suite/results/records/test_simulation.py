"""Test the record of a simulation."""

import pytest
from record_cases import simulation
from record_files import RecordFile, as_record

from xmlc.suite.results.records.simulation import SimulationRecord


class TestFile(RecordFile):
    kind = SimulationRecord
    content = simulation()
    broken = (
        (["models", "dependent"], ...),
        (["models", "dependent", "methods", "gfm", "limit"], "high"),
        (["kind"], "ranking"),
    )


def test_numbers_are_by_model_method_and_size():
    parts = dict(as_record(simulation()).numbers())
    assert parts["independent"] == {"optimum": 20, "optimal_size": 3}
    assert parts["independent, gfm"] == {"limit": pytest.approx(10)}
    assert parts["dependent, meuf - gfm, 5 samples"] == {
        "samples": 5, "trials": 40, "expected_f": 1, "standard_error": pytest.approx(0.1)
    }  # fmt: skip
