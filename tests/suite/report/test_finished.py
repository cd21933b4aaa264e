"""Test finished tables: outdated ones are named, archives give the same page."""

import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from archive_cases import unpack_tar
from command_line import run
from facts import absent, contents, raises_with
from page_cases import PAPER, make_table, small_run
from record_cases import search, statistics
from report_cases import write

from xmlc.core.errors import XmlcError
from xmlc.suite.report.finished import LONG_COLUMNS, long_table, write_archive
from xmlc.suite.results.manifest import Manifest, finished_tables

OURS = Path("results/yeast/rankings/000.json")


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        small_run(Path())
    return folder


@pytest.fixture
def run_folder(finished_run, tmp_path, monkeypatch):
    shutil.copytree(finished_run, tmp_path / "run")
    monkeypatch.chdir(tmp_path / "run")
    return tmp_path


@pytest.mark.parametrize(
    "change", [Path.unlink, lambda record: os.utime(record, ns=(2**61, 2**61))]
)
def test_outdated_table_is_named_and_others_are_shown(run_folder, capsys, change):
    change(OURS)
    assert run("report", "--out", "report") == 0
    table = f"results/tables/{PAPER}/table1"
    assert absent(capsys.readouterr().err, f"snakemake {table}.md") == []
    assert absent(Path("report/index.html").read_text(), table) == []
    assert "Table 2" in Path(f"report/{PAPER}.html").read_text()
    assert run("results", "--out", "results.csv") == 0
    numbers = pd.read_csv("results.csv")
    assert numbers["method"].notna().all(), "only table 2 has methods"


def test_report_loses_the_pages_of_deleted_tables_but_no_other_file(run_folder, capsys):
    pages = Path("report", PAPER)
    assert run("report", "--out", "report") == 0
    assert (pages / "table2.csv").exists()
    for file in Path(f"results/tables/{PAPER}").glob("table2.*"):
        file.unlink()
    assert run("report", "--out", "report") == 0
    assert [file.name for file in pages.iterdir()] == ["table1.csv"]
    Path("report/notes.txt").write_text("of a user")
    before = contents(Path("report"))
    assert run("report", "--out", "report") == 1
    assert absent(capsys.readouterr().err, "report", "notes.txt") == []
    assert contents(Path("report")) == before


def test_page_can_be_rebuilt_from_the_archive(run_folder, monkeypatch):
    archive = run_folder / "records.tar.xz"
    assert run("archive", "--out", archive) == 0
    assert run("report", "--out", run_folder / "before") == 0
    unpack_tar(archive, run_folder / "elsewhere")
    for name in ("config", "results/published", "logs"):
        (run_folder / "elsewhere" / name).symlink_to(Path(name).resolve())
    monkeypatch.chdir(run_folder / "elsewhere")
    assert run("report", "--out", run_folder / "after") == 0
    before = contents(run_folder / "before")
    assert contents(run_folder / "after") == before
    assert {Path("index.html"), Path(f"{PAPER}.html"), Path(PAPER, "table2.csv")} <= before.keys()


def test_archive_is_reproducible_and_omits_other_files(run_folder):
    assert run("archive", "--out", "first.tar.xz") == 0
    for file in Path("results").rglob("*.json"):
        os.utime(file, (1, 1))
        file.chmod(0o600)
    for name in ("results/yeast/plt/model/weights.npy", "results/figures/other2020/figure1.svg"):
        Path(name).parent.mkdir()
        Path(name).touch()
    assert run("archive", "--out", "second.tar.xz") == 0
    assert Path("first.tar.xz").read_bytes() == Path("second.tar.xz").read_bytes()


@pytest.mark.parametrize("record", ["/elsewhere/ranking.json", "../ranking.json"])
def test_record_outside_the_folder_is_refused(tmp_path, record):
    with raises_with(XmlcError, record):
        write_archive([Manifest("table1", PAPER, (Path(record),))], tmp_path / "a.tar.xz")
    assert [*tmp_path.iterdir()] == []


def test_long_table_has_numbers_of_records_and_statistics(tmp_path):
    files = write(tmp_path / "records", [statistics(), search()])
    make_table(tmp_path, "claims", files, "swnn2018")
    table = long_table(finished_tables(tmp_path / "results/tables"))
    assert {"labels_per_instance", "mean_precision"} <= {*table["quantity"]}


@pytest.mark.parametrize("command", ["report", "results", "archive"])
def test_command_without_finished_tables_is_refused(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    assert run(command, "--out", "out") == 1
    assert absent(capsys.readouterr().err, "results/tables") == []
    assert not Path("out").exists()


def test_number_in_long_table_has_its_origin_and_settings(run_folder):
    table = long_table(finished_tables(Path("results/tables")))
    assert tuple(table.columns) == LONG_COLUMNS
    rows = table.set_index(["model", "method", "seed", "quantity"])
    row = rows.loc["plt", "sto", 0, "macro_f"].iloc[0].to_dict()
    assert row["value"] == pytest.approx(35)
    assert row["record"].endswith("001.json")
    expected = {
        "papers": PAPER,
        "dataset": "yeast",
        "split": "80",
        "unit": "%",
        "threads": 2,
        "seconds": 5.25,
        "peak_mb": 123,
        "versions": "xmlc 0.1.0; python 3.11.7; numpy 2.4.6",
        "hyperparameters": '{"arity": 16}',
    }
    assert row | expected == row
