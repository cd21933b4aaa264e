"""Test how records are read, checked and selected."""

import math

import pytest
from facts import raises_with
from record_files import as_record
from report_cases import ranking, thresholds, write

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import RANKINGS, THRESHOLDS, Declared
from xmlc.suite.papers.building import read_needs


def chosen(paths, need):
    """Return the model and method of each record among these files that a table needs."""
    numbers = read_needs(Declared(name="x", needs=(need,)), paths)
    return numbers.drop_duplicates("record")[["model", "method"]].to_numpy().tolist()


def test_records_of_a_kind_are_read_in_order_of_files(tmp_path):
    content = [
        thresholds(method="sto"),
        ranking(),
        ranking(model="oracle", split="80"),
        thresholds(method="fta"),
    ]
    paths = write(tmp_path, content)
    assert chosen(paths, THRESHOLDS) == [["plt", "sto"], ["plt", "fta"]]
    assert chosen(paths, RANKINGS) == [["plt", ""]]


@pytest.mark.parametrize("text", ["{", "[]", '{"kind": []}'])
def test_files_without_a_record_are_refused(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with raises_with(XmlcError, "x.json"):
        chosen([path], RANKINGS)


def test_files_without_a_record_of_the_kind_are_refused(tmp_path):
    with raises_with(XmlcError, "ranking", 1):
        chosen(write(tmp_path, [thresholds()]), RANKINGS)


@pytest.mark.parametrize(
    ("second", "facts"),
    [
        (ranking(), ["yeast", "plt", "seed 0"]),
        (ranking(seed=1, dataset=ranking()["dataset"] | {"digest": "f" * 64}), ["yeast", "f" * 12]),
        (ranking(seed=1, hyperparameters={"arity": 2}), ["yeast", "plt"]),
    ],
)
def test_contradictory_records_are_refused(tmp_path, second, facts):
    with raises_with(XmlcError, tmp_path / "000.json", tmp_path / "001.json", *facts):
        chosen(write(tmp_path, [ranking(), second]), RANKINGS)


def test_numbers_of_records_have_units_of_columns():
    ((_, row),) = as_record(ranking(p1=0.75, seconds=90.0)).numbers()
    expected = {"p@1": 75, "train_minutes": 1.5, "train_seconds": 90, "model_mb": 2.5}
    assert row | expected == row
    assert math.isnan(row["predict_peak_mb"])
    ((_, row),) = as_record(thresholds(method="ofo", f=0.5)).numbers()
    expected = {"macro_f": 50, "macro_f_zero": 25, "validation_macro_f": 60}
    expected |= {"predicted_per_instance": 3.5, "a": 1, "b": 10, "c": 10}
    assert row | expected == row


def test_records_of_other_kinds_are_checked_before_they_are_skipped(tmp_path):
    broken = thresholds()
    del broken["best"]
    with raises_with(XmlcError, "001.json", "best", "`xmlc thresholds`"):
        chosen(write(tmp_path, [ranking(), broken]), RANKINGS)
