"""The long table of a run: every number of a table is in it."""

import pytest
from page_cases import PAPER, make_table, small_run
from record_cases import search, statistics
from report_cases import (
    ranking,
    write,
)

from xmlc.suite.report.results import LONG_COLUMNS, long_table
from xmlc.suite.results.made_of import finished_tables


def test_a_table_of_several_kinds_of_files_has_the_facts_of_records_and_statistics(tmp_path):
    files = write(tmp_path / "records", [ranking(model="swnn-searched"), statistics(), search()])
    make_table(tmp_path, "claims", files, "swnn2018")
    table = long_table(finished_tables(tmp_path / "results/tables", ["swnn2018"]))
    assert {("swnn-searched", "p@1"), ("", "labels_per_instance")} <= {*zip(table["model"], table["quantity"])}


def test_a_fact_says_whose_it_is_and_how_it_came_about(tmp_path):
    run = small_run(tmp_path)
    table = long_table(finished_tables(run / "results/tables", [PAPER]))
    assert tuple(table.columns) == LONG_COLUMNS
    row = table[(table["model"] == "plt") & (table["method"] == "sto") & (table["quantity"] == "macro_f")].iloc[0]
    assert (row["papers"], row["dataset"], row["seed"], row["portion"]) == (PAPER, "yeast", 0, "80")
    assert row["value"] == pytest.approx(35)
    assert row["unit"] == "%"
    assert (row["threads"], row["seconds"], row["peak_mb"]) == (2, 5.25, 123)
    assert row["versions"] == "xmlc 0.1.0; python 3.11.7; numpy 2.4.6"
    assert row["hyperparameters"] == '{"arity": 16}'
    assert row["record"].endswith("001.json")
