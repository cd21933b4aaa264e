"""Tidy rows and the files of `--out`."""

import csv
import json

from xmlc.bench.rows import Contender, Report, Row, write_report

ROWS = [
    Row("plt", "a", "ours", "training", "time", "s", 1.5, (2.0, 1.5), 2),
    Row("plt", "a", "ours / theirs", "training, compared", "memory", "ratio", float("nan"), note="too small"),
]
REPORT = Report(
    benchmark="plt",
    dataset="a",
    about="9 instances",
    passport={"cpu": "one"},
    contenders=[Contender("ours", "this package", {"arity": 2}, (1, 2))],
    rows=ROWS,
)


def test_json_has_rows_contenders_and_passport_and_nan_is_null(tmp_path):
    write_report(REPORT, tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text())
    assert (content["benchmark"], content["passport"]) == ("plt", {"cpu": "one"})
    assert content["contenders"][0]["hyperparameters"] == {"arity": 2}
    first, second = content["rows"]
    assert (first["value"], first["rounds"], first["threads"]) == (1.5, [2.0, 1.5], 2)
    assert second["value"] is None
    assert second["note"] == "too small"


def test_csv_has_a_line_for_each_row(tmp_path):
    write_report(REPORT, tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["contender"], first["value"], first["rounds"]) == ("ours", "1.5", "2.0 1.5")
    assert (second["value"], second["rounds"]) == ("", "")
