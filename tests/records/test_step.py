"""Files in which steps tell their costs, those beside estimates and thresholds among them."""

import math

import pytest
from record_cases import estimates, passport, statistics, step, training, tuned
from record_files import changed, save
from report_cases import dataset

from xmlc.core.errors import XmlcError
from xmlc.records.step import StepRecord
from xmlc.records.thresholds import Estimates, TunedThresholds

BESIDE = {Estimates: estimates(), TunedThresholds: tuned()}


@pytest.mark.parametrize("kind", BESIDE)
def test_what_is_read_is_written_again(tmp_path, kind):
    path = save(tmp_path, BESIDE[kind], kind.FILE)
    content = kind.read(path)
    content.write(tmp_path / "again")
    assert kind.read(tmp_path / "again") == content
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("kind", "keys", "value", "found"),
    [
        (Estimates, ["parts", "val", "instances"], ..., "instances"),
        (Estimates, ["floor"], math.nan, "NaN"),
        (TunedThresholds, ["grid", 0, "c"], "2", r"grid\[0\]\.c"),
        (StepRecord, ["step", "seconds"], ..., "seconds"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(tmp_path, kind, keys, value, found):
    file = getattr(kind, "FILE", "train.json")
    path = save(tmp_path, changed(BESIDE.get(kind, training()), keys, value), file)
    with pytest.raises(XmlcError, match=f"{file}: .*{found}"):
        kind.read(path)


def test_a_step_is_read_from_whatever_file(tmp_path):
    contents = (training(seed=3), estimates(), tuned(), statistics(), {"step": step("synth", model=None)})
    digest, records = (
        dataset()["digest"],
        [StepRecord.read(save(tmp_path, one, f"{i}.json")) for i, one in enumerate(contents)],
    )
    assert [record.step["name"] for record in records] == ["train", "estimate", "threshold", "prepare", "synth"]
    assert [record.dataset_name for record in records] == ["yeast"] * 5
    assert [record.data_digest for record in records] == [digest, "", "", digest, ""]
    assert [record.seed for record in records] == [3, None, None, None, None]
    trained, estimated, *_ = records
    assert (trained.dataset.digest, trained.hyperparameters) == (dataset()["digest"], {"arity": 16})
    assert (estimated.floor, estimated.parts["test"].ms_per_instance) == (0.001, 0.25)
    assert (trained.passport, records[-1].passport) == (passport(), None)


def test_the_costs_are_in_the_units_of_columns(tmp_path):
    contents = (training(step=step("train", written_bytes=2_000_000)), {"step": step("synth", model=None)})
    records = [StepRecord.read(save(tmp_path, content, f"{i}.json")) for i, content in enumerate(contents)]
    (_, one), (_, other) = (row for record in records for row in record.numbers())
    assert [record.model_name for record in records] == ["plt", ""]
    assert (one["step_peak_mb"], other["step_peak_mb"], one["disk_mb"]) == (123, 123, 2)
    assert math.isnan(other["disk_mb"])
