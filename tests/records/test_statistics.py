"""The statistics of a dataset, and their frame."""

import msgspec
import pytest
from record_cases import statistics
from record_files import RecordFile, save

from xmlc.core.errors import XmlcError
from xmlc.records.statistics import Statistics, frame, read_statistics

CONTENT = statistics()


class TestFile(RecordFile):
    kind, content, nan_at = Statistics, CONTENT, ["train", "labels_per_instance", "mean"]
    broken = (
        (["train", "labels_never_seen"], ..., "$.train", "'labels_never_seen' is a required property"),
        (["test", "labels_per_instance", "mean"], -1, "$.test.labels_per_instance.mean", ">= 0"),
        (["d"], 1.5, "$.d", "Expected"),
    )


def test_a_dataset_has_one_file(tmp_path):
    paths = [save(tmp_path, statistics(name), f"{i}.json") for i, name in enumerate(("yeast", "scene", "yeast"))]
    assert [record.name for record in read_statistics(paths[:2])] == ["yeast", "scene"]
    with pytest.raises(XmlcError, match=r"2\.json: second statistics of yeast; give each dataset once"):
        read_statistics(paths)


def test_the_frame_has_sizes_and_averages():
    row = frame([msgspec.convert(statistics(), Statistics)]).iloc[0].to_dict()
    assert row == {"dataset": "yeast", "d": 103, "m": 14, "n_train": 1500, "n_test": 917} | dict.fromkeys(
        ("labels_per_instance", "instances_per_label"), 2.125
    )
