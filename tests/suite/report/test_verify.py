"""Test that damaged files are named once with the files to delete, and files without checksum are
named.
"""

from pathlib import Path

import numpy as np
import pytest
from command_line import run
from facts import absent
from report_cases import ranking

from xmlc.core.checksums import NAME
from xmlc.core.files import atomic_folder
from xmlc.suite.files import write_record
from xmlc.suite.report.verify import verify

DATA = Path("results/yeast/data")
RECORD = Path("results/yeast/plt/seed0/full/ranking.json")
TUNED = Path("results/yeast/tuning/plt.json")
OTHER = Path("results/yeast/plt/seed0/full/other.csv")


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with atomic_folder(DATA) as folder:
        (folder / "train").mkdir()
        np.save(folder / "train/X.npy", np.arange(100))
        np.save(folder / "split.npy", np.arange(9))
    write_record(RECORD, ranking())
    write_record(TUNED, {"seed": 3})
    OTHER.write_text("a,b\n")
    Path("results/published").mkdir()
    Path("results/published/table1.json").write_text("{}")
    Path("results/.yeast+1").touch()
    return Path("results")


def edit(path, old, new):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def test_each_damaged_file_is_named_with_files_to_delete(results):
    files = [DATA / "split.npy", DATA / "train/X.npy", RECORD, TUNED]
    changes = [(b"\x07", b"\x06"), (b"\x07", b"\x06"), (b"0.75", b"0.95"), (b"3", b"4")]
    for file, change in zip(files, changes):
        edit(file, *change)
    (DATA / "more.npy").touch()
    found = verify([results])
    assert [damage.file for damage in found.damaged] == files
    assert found.targets == [DATA, RECORD, TUNED]
    assert (found.unlisted, found.without) == ([DATA / "more.npy"], [OTHER])


@pytest.mark.parametrize("place", [DATA / "train/X.npy", RECORD])
def test_single_file_can_be_verified(results, place):
    assert verify([place]).damaged == []
    place.write_bytes(place.read_bytes()[:-3])
    assert [damage.file for damage in verify([place]).damaged] == [place]


def test_missing_list_or_checksum_is_damage(results):
    (DATA / NAME).unlink()
    edit(RECORD, b'"checksum"', b'"checksun"')
    TUNED.write_text("[")
    assert [damage.target for damage in verify([results]).damaged] == [DATA, RECORD, TUNED]


def test_command_names_and_deletes_damaged_files(results, capsys):
    (DATA / "more.npy").touch()
    assert run("verify") == 0
    facts = ["5 files", "0 damaged", "1 unexpected", "1 others", DATA / "more.npy"]
    assert absent(capsys.readouterr().out, facts) == []
    edit(RECORD, b"0.75", b"0.95")
    edit(DATA / "split.npy", b"\x07", b"\x06")
    assert run("verify", "results") == 1
    found = capsys.readouterr()
    assert absent(found.out, f"snakemake {RECORD}", DATA / "split.npy") == []
    assert absent(found.err, "2 of 5") == []
    assert run("verify", "--delete") == 0
    assert absent(capsys.readouterr().out, "deleted", RECORD, DATA) == []
    assert [path.exists() for path in (RECORD, DATA)] == [False, False]
    assert run("verify") == 0


@pytest.mark.parametrize("content", ['{"files": {"checksum": "a"}}', '"checksum"'])
def test_json_file_of_another_program_is_not_deleted(results, content):
    other = Path("results/other.json")
    other.write_text(content)
    found = verify([results])
    assert (found.damaged, found.without) == ([], [other, OTHER])
    assert run("verify", "--delete") == 0
    assert other.read_text() == content
