"""Of any number of processes one has a claim, and a killed one has none."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from xmlc.processes import this_process
from xmlc.runtime.claims import Claimed, claimed, claims

HOLD = (
    "from xmlc.runtime.claims import *; import sys, pathlib\nwith claimed(pathlib.Path(sys.argv[1]), 'holds'): input()"
)
# Each says when it has the claim and when it gives it back; two that had it at once would find the other's file.
COUNT = """
import pathlib, sys, time
from xmlc.runtime.claims import claimed
folder = pathlib.Path(sys.argv[1])
for _ in range(3):
    with claimed(folder / "it", "", patience=60):
        (folder / "inside").mkdir()
        time.sleep(0.01)
        (folder / "inside").rmdir()
"""


def started(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_claim_is_given_back_also_after_an_error(tmp_path):
    with claimed(tmp_path / "it", "first"):
        (claim,) = claims(tmp_path / "it")
        assert (claim.process, claim.about) == (this_process(), "first")
    with pytest.raises(KeyError), claimed(tmp_path / "it", "fails"):
        raise KeyError
    with claimed(tmp_path / "it", "second"):
        assert [claim.about for claim in claims(tmp_path / "it")] == ["second"]
    assert not list(tmp_path.iterdir())


def test_the_claim_of_a_running_process_holds_until_it_is_killed(tmp_path):
    running = started(HOLD, tmp_path / "it")
    while not claims(tmp_path / "it"):
        assert running.poll() is None
        time.sleep(0.01)
    with pytest.raises(Claimed) as refused, claimed(tmp_path / "it", "second", patience=0):
        pass
    assert (refused.value.claim.process.pid, refused.value.claim.about) == (running.pid, "holds")
    running.kill()
    running.communicate()
    with claimed(tmp_path / "it", "second", patience=0):
        assert [claim.about for claim in claims(tmp_path / "it")] == ["second"]


def test_twenty_processes_have_it_one_after_the_other(tmp_path):
    dead = this_process()._replace(started=1)
    (tmp_path / f"it+{dead}+1.claim").touch()  # so that all of them find a stale one first
    running = [started(COUNT, tmp_path) for _ in range(20)]
    errors = [process.communicate()[1] for process in running]
    assert not any(errors), errors
    assert [process.returncode for process in running] == [0] * 20
    assert not list(tmp_path.iterdir())


def test_a_claim_from_another_machine_holds(tmp_path):
    other = this_process()._replace(host="node7", place="00000000")
    (tmp_path / f"it+{other}+1.claim").write_text("elsewhere")
    with pytest.raises(Claimed, match="node7"), claimed(tmp_path / "it", "here", patience=0):
        pass
    assert [claim.about for claim in claims(tmp_path / "it")] == ["elsewhere"]
    with claimed(tmp_path / "i", "another path", patience=0), claimed(tmp_path / "it+", "and another", patience=0):
        pass


def test_a_full_disk_leaves_no_claim(tmp_path, monkeypatch):
    def full(file, text, encoding):
        file.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match=r"No space.*work\+") as error, claimed(tmp_path / "work", "writes"):
        pass
    assert error.value.filename.startswith(str(tmp_path / "work+"))
    assert list(tmp_path.iterdir()) == []
