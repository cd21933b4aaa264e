"""`xmlc report` and `xmlc facts` where some of the records that tables were made of are gone."""

import pandas as pd
from command_line import run
from page_cases import PAPER, small_run


def test_a_table_whose_records_are_gone_is_named_and_the_others_are_shown(tmp_path, capsys):
    folder = small_run(tmp_path)
    next((folder / "results/yeast/rankings").glob("*.json")).unlink()
    options = ["--tables", folder / "results/tables", "--logs", folder / "logs", "--config", folder / "config"]
    shown = ["--figures", folder / "results/figures", "--reference", folder / "results/reference"]
    assert run("report", *options, *shown, "--out", tmp_path / "report.html") == 0
    expected = f"{PAPER}, table1: its records are gone; `snakemake results/tables/{PAPER}/table1.md` makes them again"
    assert expected in capsys.readouterr().err
    html = (tmp_path / "report.html").read_text()
    assert f"{PAPER}, table1" in html
    assert "Table 2" in html
    assert run("facts", *options, "--out", tmp_path / "facts.csv") == 0
    facts = pd.read_csv(tmp_path / "facts.csv")
    assert (facts["status"] == "failed").sum() == 2
    assert (facts["status"] == "measured").any()
