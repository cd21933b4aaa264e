"""Test the record of a search."""

import yaml
from record_cases import search
from record_files import RecordFile

from xmlc.core.checksums import stamped
from xmlc.suite.papers.building import read_records
from xmlc.suite.results.records.search import SearchRecord


class TestFile(RecordFile):
    kind = SearchRecord
    content = search()
    broken = ((["estimator"], ...), (["trials"], []), (["best", "p@1"], 50.0))


def test_file_of_an_earlier_version_is_read(tmp_path):
    content = {
        key: value for key, value in search().items() if key not in ("kind", "schema", "after")
    }
    (tmp_path / "plt.yaml").write_text(yaml.safe_dump(stamped(content)))
    file = tmp_path / "plt.yaml"
    assert read_records([file])[file].trials[1]["p@1"] == 0.625
