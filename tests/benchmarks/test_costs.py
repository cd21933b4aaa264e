"""Test that the costs of the workflow's steps are measured in separate processes."""

import csv
import sys

import pytest

from benchmarks import costs
from benchmarks.__main__ import group
from benchmarks.costs import FINISHED, usage
from xmlc.core.errors import XmlcError

# Each program keeps its memory until `seen` has written a file.
UNTIL_SEEN = "\nwhile not os.path.exists('seen'): time.sleep(0.01)"
PRIVATE = f"import os, time; a = bytearray(100_000_000){UNTIL_SEEN}"
MAPPED = (
    "import mmap, os, time; f = open('file'); a = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); "
    "sum(a[::4096])"
) + UNTIL_SEEN
CHILD = f"import os, time; os.fork() and os.wait() or exec({PRIVATE!r})"


def measured(folder, *options):
    """Measure models on a tiny copy, and return the rows."""
    out = folder / "costs.csv"
    common = ("--set", "amazoncat-13k", "--one-in", 8192, "--work", folder / "work", "--out", out)
    group.main(["costs", *map(str, common + options)], standalone_mode=False)
    with out.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def compiled_by_steps(monkeypatch):
    """Leave the compilation to the steps, which need only some of the kernels."""
    monkeypatch.setattr(costs, "compile_models", lambda models, cores: None)


@pytest.mark.usefixtures("compiled_by_steps")
def test_each_step_of_a_model_has_a_row(tmp_path):
    rows = measured(tmp_path, "--model", "fastxml", "--model", "oplt-r-1-pass")
    steps = [(row["model"], row["step"]) for row in rows]
    forest = ("train", "estimate", "thresholds", "rank", "forest")
    expected = [("", "prepare"), *(("fastxml", step) for step in forest)]
    assert steps == [*expected, ("oplt-r-1-pass", "train"), ("oplt-r-1-pass", "rank")]
    for row in rows:
        assert row["outcome"] == FINISHED
        for column in (
            "cpu_seconds",
            "wall_seconds",
            "peak_bytes",
            "private_bytes",
            "mapped_bytes",
            "written_bytes",
        ):
            assert float(row[column]) > 0
        assert max(float(row["private_bytes"]), float(row["mapped_bytes"])) <= float(
            row["peak_bytes"]
        )
        assert (float(row["estimates_per_row"] or 0) > 0) == (row["step"] == "estimate")
    by_step = {row["step"]: row for row in rows if row["model"] == "fastxml"}
    assert by_step["train"]["units"] == "5"  # trees
    n_train = 145
    n_test = 38
    assert (by_step["train"]["n_train"], by_step["train"]["rows"]) == (
        str(round(0.8 * n_train)),
        "0",
    )
    assert by_step["rank"]["rows"] == str(n_test)
    assert by_step["estimate"]["rows"] == str(n_test + n_train - round(0.8 * n_train))
    assert not list((tmp_path / "work").rglob("model"))


@pytest.mark.usefixtures("compiled_by_steps")
def test_rows_are_appended_and_sweeps_run_if_asked_for(tmp_path):
    measured(tmp_path, "--model", "swnn", "--step", "train")
    rows = measured(tmp_path, "--model", "ldsm", "--step", "sweep", "--step", "train", "--trees", 2)
    assert [row["step"] for row in rows] == ["prepare", "train", "train", "train", "sweep"]
    assert [row["units"] for row in rows[2:4]] == ["2", "2"]
    one, whole = (int(row["n_train"]) for row in rows[2:4])
    # A sweep needs the record of a model of the whole training set.
    assert one == round(0.8 * whole)


def test_unknown_model_is_refused(tmp_path):
    with pytest.raises(XmlcError, match="ptl"):
        measured(tmp_path, "--model", "ptl")


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
@pytest.mark.parametrize("program", [PRIVATE, CHILD])
def test_private_memory_is_that_of_the_process_or_its_child(program, tmp_path):
    used = usage([sys.executable, "-c", program], tmp_path, limit=600)
    assert 100e6 < used.private_bytes <= used.peak_bytes
    assert used.mapped_bytes < 50e6
    assert used.outcome == FINISHED


@pytest.mark.usefixtures("seen")
def test_mapped_memory_is_that_of_files(tmp_path):
    (tmp_path / "file").write_bytes(bytes(100_000_000))
    used = usage([sys.executable, "-c", MAPPED], tmp_path, limit=600)
    assert 100e6 < used.mapped_bytes <= used.peak_bytes
    assert used.private_bytes < 50e6


def test_outcome_says_why_a_step_did_not_finish(tmp_path):
    used = usage([sys.executable, "-c", "import signal; signal.pause()"], tmp_path, limit=0)
    assert used.status
    assert used.outcome.startswith("stopped")
    used = usage([sys.executable, "-c", "raise SystemExit('no disk')"], tmp_path, limit=600)
    assert used.status == 1
    assert "no disk" in used.outcome
