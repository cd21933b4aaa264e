"""Test that config/costs.csv is what its command writes, and that measurements scale its rows."""

import csv

import pytest

from benchmarks import cost_table, costs
from benchmarks.__main__ import group
from benchmarks.cost_table import TABLE, rounded

KEY = ("amazon-670k", "swnn", "train")


def written(folder):
    """Write the table, and return its text."""
    out = folder / "written.csv"
    group.main(["cost-table", "--out", str(out)], standalone_mode=False)
    return out.read_text()


def key_of(row):
    return row["dataset"], row["model"], row["step"]


def test_committed_table_is_what_the_command_writes(tmp_path):
    """After an edit of a suite, of the catalogue or of measurements, run the command again."""
    assert written(tmp_path) == TABLE.read_text()


def test_measured_costs_are_scaled_to_the_whole_dataset(tmp_path, monkeypatch):
    with cost_table.OUT.open(newline="") as file:
        measured = next(row for row in csv.DictReader(file) if key_of(row) == KEY)
    out = tmp_path / "costs.csv"
    monkeypatch.setattr(cost_table, "OUT", out)

    def disk_mb(factor, outcome=costs.FINISHED):
        changes = {"written_bytes": factor * int(measured["written_bytes"]), "outcome": outcome}
        with out.open("w", newline="") as file:
            writer = csv.DictWriter(file, costs.COLUMNS)
            writer.writeheader()
            writer.writerow(measured | changes)
        rows = csv.DictReader(written(tmp_path).splitlines())
        return next(float(row["disk_mb"]) for row in rows if key_of(row) == KEY)

    one = disk_mb(1)
    assert disk_mb(2) == pytest.approx(2 * one, rel=0.01)
    # The cost of a stopped step is the estimate.
    stopped = disk_mb(100, "stopped after 20 minutes")
    assert stopped / 2 < one < 2 * stopped


@pytest.mark.parametrize(("amount", "short"), [(0.4, 0), (7.6, 8), (1234.5, 1230), (98765, 98800)])
def test_amounts_have_three_digits(amount, short):
    assert rounded(amount) == short
