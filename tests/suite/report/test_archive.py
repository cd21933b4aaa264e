"""The archive of finished tables: all that a page needs, the same bytes again, and nothing outside its folder."""

import os
import tarfile
from pathlib import Path

import pytest
from archive_cases import unpack_tar
from command_line import run
from page_cases import PAPER, small_run

from xmlc.core.errors import XmlcError
from xmlc.suite.report.archive import archived_files
from xmlc.suite.results.made_of import MadeOf

TABLES, FIGURES = Path("results/tables"), Path("results/figures")


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """Run a suite, as a user does, in the current folder."""
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path / "run")
    small_run(Path())
    return tmp_path


def headlines(capsys, out):
    assert run("report", "--out", out) == 0
    return capsys.readouterr().out


def test_a_page_is_made_again_from_the_archive(finished, capsys, monkeypatch):
    archive = finished / "records.tar.xz"
    assert run("archive", "--out", archive) == 0
    assert "files of 2 tables" in capsys.readouterr().out
    expected = headlines(capsys, finished / "before.html")
    elsewhere = finished / "elsewhere"
    unpack_tar(archive, elsewhere)
    for name in ("config", "results/published", "logs"):
        (elsewhere / name).symlink_to(Path(name).resolve())
    monkeypatch.chdir(elsewhere)
    assert headlines(capsys, finished / "after.html") == expected
    assert (finished / "after.html").read_text() == (finished / "before.html").read_text()


def test_the_same_files_give_the_same_bytes(finished):
    assert run("archive", "--out", "first.tar.xz") == 0
    for file in Path("results").rglob("*.json"):
        os.utime(file, (1, 1))
        file.chmod(0o600)
    assert run("archive", "--out", "second.tar.xz") == 0
    assert Path("first.tar.xz").read_bytes() == Path("second.tar.xz").read_bytes()


def test_datasets_models_and_other_papers_figures_are_left_out(finished):
    Path("results/yeast/plt/model").mkdir()
    Path("results/yeast/plt/model/weights.npy").touch()
    (FIGURES / "other2020").mkdir()
    (FIGURES / "other2020/figure1.svg").touch()
    assert run("archive", "--out", "records.tar.xz") == 0
    with tarfile.open("records.tar.xz") as content:
        names = content.getnames()
    assert {Path(name).suffix for name in names} == {".json", ".svg"}
    assert not [name for name in names if "other2020" in name]
    assert f"results/tables/{PAPER}/table2.made-of.json" in names


@pytest.mark.parametrize("record", ["/elsewhere/ranking.json", "../ranking.json"])
def test_a_record_outside_the_folder_is_refused(record):
    made = MadeOf("table1", PAPER, (Path(record),))
    with pytest.raises(XmlcError, match=r"ranking\.json: expected a path within the current folder"):
        archived_files([made], TABLES, FIGURES)
