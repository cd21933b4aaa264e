"""Test how records are read, checked and selected."""

import pytest
from facts import raises_with
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


@pytest.mark.parametrize(
    ("second", "facts"),
    [
        (ranking(), ["yeast", "plt", "seed 0"]),
        (ranking(seed=1, hyperparameters={"arity": 2}), ["yeast", "plt"]),
    ],
)
def test_contradictory_records_are_refused(tmp_path, second, facts):
    with raises_with(XmlcError, tmp_path / "000.json", tmp_path / "001.json", *facts):
        chosen(write(tmp_path, [ranking(), second]), RANKINGS)


def test_records_of_other_kinds_are_checked_before_they_are_skipped(tmp_path):
    broken = thresholds()
    del broken["best"]
    with raises_with(XmlcError, "001.json", "best", "`xmlc thresholds`"):
        chosen(write(tmp_path, [ranking(), broken]), RANKINGS)
