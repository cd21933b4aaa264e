"""The statistics of a dataset, and their frame."""

import msgspec
import pytest
from record_cases import statistics
from record_files import check_nan_refused, check_refused, check_round_trip, save

from xmlc.errors import XmlcError
from xmlc.records.statistics import Statistics, frame, read_statistics

CONTENT = statistics()


def test_what_is_read_is_written_again(tmp_path):
    check_round_trip(tmp_path, Statistics, CONTENT)


@pytest.mark.parametrize(
    ("keys", "value", "place", "found"),
    [
        (["train", "labels_never_seen"], ..., "$.train", "'labels_never_seen' is a required property"),
        (["test", "labels_per_instance", "mean"], -1, "$.test.labels_per_instance.mean", ">= 0"),
        (["d"], 1.5, "$.d", "Expected"),
        (["digest"], ..., "$", "'digest' is a required property"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(tmp_path, keys, value, place, found):
    check_refused(tmp_path, Statistics, CONTENT, keys, value, place, found)


def test_nan_is_refused(tmp_path):
    check_nan_refused(tmp_path, Statistics, CONTENT, ["train", "labels_per_instance", "mean"])


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
