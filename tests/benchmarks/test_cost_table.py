"""Test that config/costs.csv is what its command writes, and that measurements scale its rows."""

import csv

import pytest
from repository import ROOT

from benchmarks import cost_table, costs
from benchmarks.__main__ import group
from benchmarks.cost_table import TABLE, rounded
from xmlc.suite.config.project import Project


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a function that writes the table from some measurements, and returns its text."""
    folder = tmp_path_factory.mktemp("tables")

    def write(file="all.csv"):
        group.main(["cost-table", "--out", str(folder / file)], standalone_mode=False)
        return (folder / file).read_text()

    return write


def rows_of(text):
    rows = csv.DictReader(text.splitlines())
    return {(row["dataset"], row["model"], row["step"]): row for row in rows}


def test_committed_table_is_what_the_command_writes(written):
    """After an edit of a suite, of the catalogue or of measurements, run the command again."""
    assert written() == TABLE.read_text()


def test_each_dataset_of_known_size_has_rows_of_the_models_that_run_on_it():
    rows = rows_of(TABLE.read_text())
    assert [*rows] == sorted(rows)
    project = Project.read({"papers": []}, ROOT / "config")
    for paper, suite in project.suites.items():
        for dataset in suite.datasets:
            entry = project.entry(dataset)
            if entry.published or entry.synthetic:
                for model in project.models_on(paper, dataset):
                    assert (dataset, model, "rank") in rows
                    assert (dataset, model, "train") in rows


def test_measured_costs_are_scaled_to_the_whole_dataset(written, tmp_path, monkeypatch):
    key = ("amazon-670k", "swnn", "train")
    with cost_table.OUT.open(newline="") as file:
        rows = list(csv.DictReader(file))
    out = tmp_path / "costs.csv"
    monkeypatch.setattr(cost_table, "OUT", out)

    def table(factor, outcome=costs.FINISHED):
        with out.open("w", newline="") as file:
            writer = csv.DictWriter(file, costs.COLUMNS)
            writer.writeheader()
            for row in rows:
                if (row["dataset"], row["model"], row["step"]) == key:
                    measured = factor * int(row["written_bytes"])
                    writer.writerow(row | {"written_bytes": measured, "outcome": outcome})
        return rows_of(written("some.csv"))

    one = table(1)
    two = table(2)
    stopped = table(2, "stopped after 20 minutes")
    assert float(two[key]["disk_mb"]) == pytest.approx(2 * float(one[key]["disk_mb"]), rel=0.01)
    estimated = float(stopped[key]["disk_mb"])
    assert estimated / 2 < float(one[key]["disk_mb"]) < 2 * estimated
    others = {found: row for found, row in one.items() if found != key and found[1] != "swnn"}
    assert others.items() <= two.items()


@pytest.mark.parametrize(("amount", "short"), [(0.4, 0), (7.6, 8), (1234.5, 1230), (98765, 98800)])
def test_amounts_have_three_digits(amount, short):
    assert rounded(amount) == short
