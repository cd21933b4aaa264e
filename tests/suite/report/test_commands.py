"""`xmlc report` and `xmlc results` where some of the records that tables were made of are gone."""

import os
from pathlib import Path

import pandas as pd
import pytest
from command_line import run
from page_cases import PAPER, small_run


@pytest.mark.parametrize("change", [Path.unlink, lambda record: os.utime(record, ns=(2**61, 2**61))])
def test_a_table_that_is_not_of_its_records_is_named_and_the_others_are_shown(tmp_path, capsys, monkeypatch, change):
    folder = small_run(tmp_path)
    monkeypatch.chdir(folder)
    change(next((folder / "results/yeast/rankings").glob("*.json")))
    assert run("report", "--out", tmp_path / "report.html") == 0
    assert f"{PAPER}, table1: its records are gone or were made again" in capsys.readouterr().err
    html = (tmp_path / "report.html").read_text()
    assert f"{PAPER}, table1" in html
    assert "Table 2" in html
    assert run("results", "--out", tmp_path / "results.csv") == 0
    table = pd.read_csv(tmp_path / "results.csv")
    assert set(table["method"].dropna()) == {"fta", "sto", "ofo", "ofo-ab", "fta-labelwise"}  # of table 2 alone


@pytest.mark.parametrize(
    "text", ["**Table 1.** Caption.\n\n**First**\n\n| a |\n|--:|\n| 1 |", "Caption.\n\n| a |\n|--:|\n| 1 |"]
)
def test_the_first_panel_is_shown_briefly(tmp_path, capsys, text):
    more = "\n\n**Second**\n\n| b |\n|--:|\n| 2 |\n\n- A note.\n"
    (tmp_path / "t.md").write_text(text + more)
    assert run("show", "--brief", tmp_path / "t.md") == 0
    assert capsys.readouterr().out == f"\n{text.removeprefix('**Table 1.** Caption.').strip()}\n\n"
    assert run("show", tmp_path / "t.md") == 0
    assert capsys.readouterr().out.startswith(f"\n{text}{more}\nWritten:\n")
