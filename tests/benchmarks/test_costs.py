"""Test that the costs of the workflow's steps are measured in separate processes."""

import csv
import sys

import pytest
from facts import raises_with

from benchmarks import costs
from benchmarks.__main__ import group
from benchmarks.costs import FINISHED, MEASURED, usage
from xmlc.core.errors import XmlcError

# Each program keeps its memory until `seen` has written a file.
UNTIL_SEEN = "\nwhile not os.path.exists('seen'): time.sleep(0.01)"
PRIVATE = f"import os, time; a = bytearray(100_000_000){UNTIL_SEEN}"
MAPPED = (
    "import mmap, os, time; f = open('file'); a = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); "
    "sum(a[::4096])"
) + UNTIL_SEEN
CHILD = f"import os, time; os.fork() and os.wait() or exec({PRIVATE!r})"


def measured(folder, options):
    """Measure models on a tiny copy, and return the rows."""
    out = folder / "costs.csv"
    command = f"costs --set amazoncat-13k --one-in 8192 --work {folder}/work --out {out} {options}"
    group.main(command.split(), standalone_mode=False)
    with out.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_each_step_of_a_model_has_a_row_and_rows_are_appended(tmp_path, monkeypatch):
    # The steps need only some of the kernels.
    monkeypatch.setattr(costs, "compile_models", lambda models: None)
    measured(tmp_path, "--model fastxml")
    rows = measured(tmp_path, "--model ldsm --step sweep --step train --trees 2")
    forest = ["prepare", "train", "estimate", "thresholds", "rank", "forest"]
    assert [row["step"] for row in rows] == [*forest, "train", "train", "sweep"]
    for row in rows:
        assert row["outcome"] == FINISHED
        assert all(float(row[column]) > 0 for column in MEASURED)
        assert float(row["private_bytes"]) <= float(row["peak_bytes"])
        assert float(row["mapped_bytes"]) <= float(row["peak_bytes"])
        assert (float(row["estimates_per_row"] or 0) > 0) == (row["step"] == "estimate")
    fastxml = {row["step"]: row for row in rows[:6]}
    # 116 of the 145 training instances are fitted, and the others estimated with the 38 of the
    # test set.
    assert fastxml["rank"]["rows"] == "38"
    assert fastxml["estimate"]["rows"] == "67"
    # A sweep needs the record of a model of the whole training set.
    trained = [(row["units"], row["n_train"]) for row in (fastxml["train"], *rows[6:8])]
    assert trained == [("5", "116"), ("2", "116"), ("2", "145")]
    assert not list((tmp_path / "work").rglob("model"))


def test_unknown_model_is_refused(tmp_path):
    with raises_with(XmlcError, "--model", "ptl", "plt"):
        measured(tmp_path, "--model ptl")


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """Write the file `seen` after a process has been found with 100 MB of private or mapped
    memory.
    """
    memory_of = costs.memory_of

    def memory_and_file(pid):
        found = memory_of(pid)
        if max(found.get("RssAnon", 0), found.get("RssFile", 0)) > 100e6:
            (tmp_path / "seen").touch()
        return found

    monkeypatch.setattr(costs, "memory_of", memory_and_file)


@pytest.mark.usefixtures("seen")
@pytest.mark.parametrize("program", [PRIVATE, CHILD, MAPPED])
def test_memory_of_a_process_or_its_child_is_private_or_that_of_files(program, tmp_path):
    (tmp_path / "file").write_bytes(bytes(100_000_000))
    used = usage([sys.executable, "-c", program], tmp_path, limit=600)
    large = used.private_bytes
    small = used.mapped_bytes
    if program == MAPPED:
        large = used.mapped_bytes
        small = used.private_bytes
    assert 100e6 < large <= used.peak_bytes
    assert small < 50e6
    assert used.outcome == FINISHED


def test_outcome_says_why_a_step_did_not_finish(tmp_path):
    used = usage([sys.executable, "-c", "import signal; signal.pause()"], tmp_path, limit=0)
    assert used.status
    assert used.outcome.startswith("stopped")
    used = usage([sys.executable, "-c", "raise SystemExit('no disk')"], tmp_path, limit=600)
    assert used.status == 1
    assert "no disk" in used.outcome
