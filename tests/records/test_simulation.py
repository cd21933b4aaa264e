"""The record of a simulation."""

import pytest
from record_cases import simulation
from record_files import check_nan_refused, check_refused, check_round_trip, save

from xmlc.errors import XmlcError
from xmlc.records.simulation import SimulationRecord, read_simulations

CONTENT = simulation()


def test_what_is_read_is_written_again(tmp_path):
    check_round_trip(tmp_path, SimulationRecord, CONTENT)


@pytest.mark.parametrize(
    ("keys", "value", "place", "found"),
    [
        (["models", "dependent"], ..., "$.models", "'dependent' is a required property"),
        (["growth", "samples", "ms"], ..., "$.growth.samples", "'ms' is a required property"),
        (["models", "dependent", "methods", "gfm", "limit"], "high", "$.models[...].methods[...].limit", "Expected"),
        (["kind"], "ranking", "$.kind", "expected simulation"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(tmp_path, keys, value, place, found):
    check_refused(tmp_path, SimulationRecord, CONTENT, keys, value, place, found)


def test_nan_is_refused(tmp_path):
    check_nan_refused(tmp_path, SimulationRecord, CONTENT, ["prior"])


def test_there_is_one_among_files_of_other_kinds(tmp_path):
    paths = [save(tmp_path, content, f"{i}.json") for i, content in enumerate(({"kind": "ranking"}, CONTENT, CONTENT))]
    (record,) = read_simulations(paths[:2])
    assert record.models == CONTENT["models"]
    for files, count in ((paths, 2), (paths[:1], 0)):
        message = f"{count} records of `xmlc simulate` among {len(files)} files; expected one"
        with pytest.raises(XmlcError, match=message):
            read_simulations(files)
