"""What is damaged below a folder is named once, with what to delete; what has no checksum is named, too."""

from pathlib import Path

import numpy as np
import pytest
from command_line import run
from report_cases import ranking

from xmlc.core.checksums import NAME
from xmlc.core.files import atomic_folder, write_record
from xmlc.suite.report.verify import remove, verify

DATA, RECORD = Path("results/yeast/data"), Path("results/yeast/plt/seed0/full/ranking.json")
TUNED, OTHER = Path("results/yeast/tuning/plt.json"), Path("results/yeast/plt/seed0/full/other.csv")


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


def test_what_is_whole_is_read_and_counted(results):
    found = verify([results])
    assert (found.damaged, found.without, found.files) == ([], [OTHER], 5)
    files = (DATA / NAME, DATA / "train/X.npy", DATA / "split.npy", RECORD, TUNED)
    assert found.bytes == sum(file.stat().st_size for file in files)
    assert found.seconds > 0


def test_each_damaged_file_is_named_with_what_to_delete(results):
    edit(DATA / "train/X.npy", b"\x07", b"\x06")
    edit(DATA / "split.npy", b"\x07", b"\x06")
    edit(RECORD, b"0.75", b"0.95")
    edit(TUNED, b"3", b"4")
    (DATA / "more.npy").touch()
    found = verify([results])
    assert [damage.file for damage in found.damaged] == [DATA / "split.npy", DATA / "train/X.npy", RECORD, TUNED]
    assert found.targets == [DATA, RECORD, TUNED]
    assert (found.unlisted, found.without) == ([DATA / "more.npy"], [OTHER])
    remove(found.targets)
    assert [target.exists() for target in found.targets] == [False] * 3
    assert verify([results]).damaged == []


@pytest.mark.parametrize("place", [DATA / "train/X.npy", DATA / "split.npy", RECORD, TUNED])
def test_one_file_is_verified_by_itself(results, place):
    assert verify([place]).damaged == []
    place.write_bytes(place.read_bytes()[:-3])
    assert [damage.file for damage in verify([place]).damaged] == [place]


def test_a_list_or_checksum_that_is_gone_is_damage_too(results):
    (DATA / NAME).unlink()
    edit(RECORD, b'"checksum"', b'"checksun"')
    TUNED.write_text("[")
    assert [damage.target for damage in verify([results]).damaged] == [DATA, RECORD, TUNED]


def test_the_command_says_how_much_it_read_and_fails_where_something_is_damaged(results, capsys):
    (DATA / "more.npy").touch()
    assert run("verify") == 0
    said = capsys.readouterr().out
    assert "5 files, " in said
    assert "0 damaged, 1 out of place; 1 others without checksum" in said
    assert f"{DATA}/more.npy: is none of the files that were written there" in said
    edit(RECORD, b"0.75", b"0.95")
    assert run("verify", "results") == 1
    said, error = capsys.readouterr()
    again = f"delete {RECORD} and rebuild it: snakemake {RECORD}"
    assert f"{RECORD}: was edited since it was written" in said
    assert again in said
    assert "1 of 5 files are not as they were written" in error
    assert run("verify", "--delete") == 0
    assert f"deleted: {RECORD}" in capsys.readouterr().out
    assert run("verify") == 0
