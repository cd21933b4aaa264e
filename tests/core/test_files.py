"""Test that files and folders get their names only when they are complete."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from xmlc.core.checksums import NAME as CHECKSUMS
from xmlc.core.files import (
    OURS,
    atomic_file,
    atomic_folder,
    locked,
    read_json,
    remove_leftovers,
    temporary_place,
    write_json,
)
from xmlc.suite.files import sha256, similar_path

WRITE = """
import sys
import numpy as np
from xmlc.core.files import atomic_folder
for _ in range(20):
    with atomic_folder(sys.argv[1]) as folder:
        np.save(folder / "array.npy", np.full(50_000, int(sys.argv[2])))
"""


def fail_within(manager):
    with manager as temporary:
        if temporary.is_dir():
            temporary = temporary / "half"
        temporary.write_text("half")
        raise RuntimeError


def start(code, *arguments):
    """Start a Python process with pipes."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=0
    )


def kill(process):
    process.kill()
    process.communicate()


def test_file_appears_complete_or_not_at_all(tmp_path):
    target = tmp_path / "deep" / "table.csv"
    with atomic_file(target) as temporary:
        temporary.write_text("new")
        assert not target.exists()
        assert temporary.suffix == ".csv"
    assert target.read_text() == "new"
    with pytest.raises(RuntimeError):
        fail_within(atomic_file(target))
    assert target.read_text() == "new"
    assert [file.name for file in target.parent.iterdir()] == ["table.csv"]


def test_folder_is_replaced_completely_or_not_at_all(tmp_path):
    target = tmp_path / "data"
    for content in ("old", "new"):
        with atomic_folder(target) as temporary:
            (temporary / content).write_text(content)
    assert {file.name for file in target.iterdir()} == {"new", CHECKSUMS}
    with pytest.raises(RuntimeError):
        fail_within(atomic_folder(target))
    assert {file.name for file in target.iterdir()} == {"new", CHECKSUMS}
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("manager", [atomic_file, atomic_folder])
def test_write_error_names_target_instead_of_temporary_file(tmp_path, manager):
    target = tmp_path / "results/x"

    def fail(error):
        with manager(target) as temporary:
            if error.filename2:
                error.filename2 = str(temporary / error.filename2)
            raise error

    full = "No space left on device"
    for error, name, second in (
        (OSError(28, full), str(target), None),
        (OSError(28, full, "source", None, "a/b.npy"), "source", str(target / "a/b.npy")),
        (OSError("500 requested and 12 written"), str(target), None),
        (PermissionError(13, "Permission denied", "source"), "source", None),
    ):
        with pytest.raises(OSError) as raised:
            fail(error)
        assert (raised.value.filename, raised.value.filename2) == (name, second)
        assert list(target.parent.iterdir()) == []


def test_reader_keeps_mapped_data_while_writer_replaces_folder(tmp_path):
    """A reader finds a complete folder, or no folder at the moment between two renamings."""
    target = tmp_path / "data"
    n = 50_000
    with atomic_folder(target) as temporary:
        np.save(temporary / "array.npy", np.full(n, -1))
    mapped = np.load(target / "array.npy", mmap_mode="r")
    writer = start(WRITE, target, 0)
    seen = set()
    while writer.poll() is None:
        with suppress(FileNotFoundError):
            (value,) = np.unique(np.load(target / "array.npy", mmap_mode="r"))
            seen.add(int(value))
    assert writer.returncode == 0
    assert seen <= {-1, 0}
    assert (mapped == -1).all()
    assert list(tmp_path.iterdir()) == [target]


def test_folder_writer_removes_leftovers_of_killed_processes(tmp_path):
    code = "import sys\nfrom xmlc.core.files import *\n"
    code += "with {}(sys.argv[1] + '{}') as t:\n    print(t, flush=True); input()"
    running = [
        start(code.format("atomic_file", "/a.csv"), tmp_path),
        start(code.format("atomic_folder", "/b"), tmp_path),
        start(code.format("atomic_folder", "/c"), tmp_path),
    ]
    temporary = [process.stdout.readline().strip() for process in running]
    for process in running[:2]:
        kill(process)
    elsewhere = tmp_path / ".model+xmlc-another+0a1b2c3d"
    old = tmp_path / ".model+xmlc-another+4e5f6a7b"
    for path, days in ((elsewhere, 6), (old, 8)):
        path.mkdir()
        os.utime(path, (time.time() - 86400 * days,) * 2)
    for path in temporary[:2]:
        os.utime(path, (time.time() - 60,) * 2)
    with atomic_folder(tmp_path / "data") as folder, atomic_file(tmp_path / "own.csv") as file:
        kept = {temporary[2], str(folder), str(file), str(elsewhere)}
        assert {str(path) for path in tmp_path.iterdir()} == kept
    running[2].communicate("\n")
    assert {path.name for path in tmp_path.iterdir()} == {"data", "own.csv", "c", elsewhere.name}
    assert remove_leftovers(tmp_path) == {elsewhere.name}


HOLD = (
    "import sys\nfrom pathlib import Path\nfrom xmlc.core.files import locked\nwith "
    "locked(Path(sys.argv[1])): {}"
)


def test_a_lock_holds_until_its_process_ends(tmp_path):
    code = HOLD.format("print(flush=True); input()")
    running = start(code, tmp_path / "it")
    running.stdout.readline()
    with pytest.raises(BlockingIOError), locked(tmp_path / "it", wait=False):
        pass
    kill(running)
    for _ in range(2):
        with locked(tmp_path / "it", wait=False) as is_locked:
            assert is_locked


def test_unfinished_folder_accepts_files_and_folders(tmp_path):
    with atomic_folder(tmp_path / "outer") as outer:
        write_json(outer / "a.json", {})
        for _ in range(2):
            with atomic_folder(outer / "inner") as inner:
                write_json(inner / "b/c.json", {})
    found = {path.name for path in tmp_path.rglob("*.json")}
    assert found == {"a.json", "c.json", CHECKSUMS}


def test_json_accepts_numpy_and_refuses_nan(tmp_path):
    content = {"i": np.int64(3), "f": np.float32(0.5), "a": np.arange(2), "p": tmp_path}
    write_json(tmp_path / "a.json", content)
    assert read_json(tmp_path / "a.json") == {"i": 3, "f": 0.5, "a": [0, 1], "p": str(tmp_path)}
    with pytest.raises(ValueError):
        write_json(tmp_path / "b.json", {"x": float("nan")})
    with pytest.raises(TypeError):
        write_json(tmp_path / "b.json", {"x": object()})
    assert not (tmp_path / "b.json").exists()


def test_temporary_folder_is_next_to_file_and_removed_after_block(tmp_path):
    beside = tmp_path / "tuning/plt.json"
    with temporary_place(beside, Path.mkdir) as folder:
        (folder / "model").mkdir()
        assert folder.parent == beside.parent
        assert OURS in folder.name
    with pytest.raises(KeyboardInterrupt), temporary_place(beside, Path.mkdir):
        raise KeyboardInterrupt
    assert list(beside.parent.iterdir()) == []


def test_sha256_equals_standard_digest(tmp_path):
    (tmp_path / "abc").write_bytes(b"abc")  # FIPS 180-2, appendix B.1
    assert (
        sha256(tmp_path / "abc")
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_similar_path_is_next_to_the_first_missing_part_of_a_path(tmp_path):
    (tmp_path / "tables/gfm2011").mkdir(parents=True)
    (tmp_path / "tables/table1.csv").touch()
    for missing, similar in (("gfm201/table1.csv", "gfm2011"), ("tabel1.csv", "table1.csv")):
        assert str(tmp_path / "tables" / similar) in similar_path(tmp_path / "tables" / missing)
    assert similar_path(tmp_path / "tables/xyz") == ""
    assert similar_path(tmp_path / "tables/table1.csv/rows") == ""
