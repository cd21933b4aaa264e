"""The record of a simulation."""

import pytest
from record_cases import simulation
from record_files import RecordFile, save

from xmlc.core.errors import XmlcError
from xmlc.records.simulation import SimulationRecord, read_simulations

CONTENT = simulation()


class TestFile(RecordFile):
    kind, content, nan_at = SimulationRecord, CONTENT, ["prior"]
    broken = (
        (["models", "dependent"], ..., "$.models", "'dependent' is a required property"),
        (["models", "dependent", "methods", "gfm", "limit"], "high", "$.models[...].methods[...].limit", "Expected"),
        (["kind"], "ranking", "$.kind", "expected simulation"),
    )


def test_there_is_one_among_files_of_other_kinds(tmp_path):
    paths = [save(tmp_path, content, f"{i}.json") for i, content in enumerate(({"kind": "ranking"}, CONTENT, CONTENT))]
    (record,) = read_simulations(paths[:2])
    assert record.models == CONTENT["models"]
    for files, count in ((paths, 2), (paths[:1], 0)):
        message = f"{count} records of `xmlc simulate` among {len(files)} files; expected one"
        with pytest.raises(XmlcError, match=message):
            read_simulations(files)
