"""Test the record of a simulation."""

from record_cases import simulation
from record_files import RecordFile

from xmlc.suite.results.records.simulation import SimulationRecord

CONTENT = simulation()


class TestFile(RecordFile):
    kind, content, nan_at = SimulationRecord, CONTENT, ["prior"]
    broken = (
        (["models", "dependent"], ...),
        (["models", "dependent", "methods", "gfm", "limit"], "high"),
        (["kind"], "ranking"),
    )
