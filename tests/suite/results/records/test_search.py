"""Test the record of a search."""

import pytest
import yaml
from record_cases import search
from record_files import RecordFile, as_record

from xmlc.core.checksums import stamped
from xmlc.suite.papers.building import read_records
from xmlc.suite.results.records.search import SearchRecord


class TestFile(RecordFile):
    kind = SearchRecord
    content = search()
    nan_at = ("best", "p@1")
    broken = ((["estimator"], ...), (["trials"], []), (["best", "p@1"], 50.0))


def test_file_of_an_earlier_version_is_read(tmp_path):
    content = {
        key: value for key, value in search().items() if key not in ("kind", "schema", "after")
    }
    (tmp_path / "plt.yaml").write_text(yaml.safe_dump(stamped(content)))
    file = tmp_path / "plt.yaml"
    assert read_records([file])[file].trials[1]["p@1"] == 0.625


def test_numbers_are_the_best_trial_and_all_trials_with_their_errors():
    best, first, second = (part for _, part in as_record(search()).numbers())
    assert best == {
        "S": 25,
        "p@1": 62.5,
        "p@3": 37.5,
        "p@5": 25,
        "mean_precision": pytest.approx(125 / 3),
        "instances": 300,
    }
    assert first["mean_precision"] == 37.5
    # The error is in percentage points.
    assert (first["trial"], second["trial"], second["error_0"]) == (0, 1, 1)
