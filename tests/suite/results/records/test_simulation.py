"""Test the record of a simulation."""

from record_cases import simulation
from record_files import RecordFile

from xmlc.suite.results.records.simulation import SimulationRecord


class TestFile(RecordFile):
    kind, content, nan_at = SimulationRecord, simulation(), ["prior"]
    broken = (
        (["models", "dependent"], ...),
        (["models", "dependent", "methods", "gfm", "limit"], "high"),
        (["kind"], "ranking"),
    )
