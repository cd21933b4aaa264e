"""The benchmark of reading: it measures both readers, on equal arrays."""

import sys
from dataclasses import replace

import pytest
from benchmark_rows import run_benchmark

from benchmarks.read import READERS, READING, Reading, bench_read, write_text
from xmlc.core.errors import XmlcError
from xmlc.data import load


def test_synthetic_text_has_the_shape_it_promises(tmp_path):
    write_text(tmp_path / "a.txt", instances=500)
    X, Y = load(tmp_path / "a.txt")
    assert (X.shape, Y.shape) == ((500, 203882), (500, 13330))
    assert 700 < (tmp_path / "a.txt").stat().st_size / 500 < 1100  # bytes per row


@pytest.mark.slow
def test_both_readers_take_turns_on_one_file(tmp_path, capsys):
    file = tmp_path / "train.txt"
    file.write_text("3 4 5\n1,2 0:1 3:0.1\n 1:2.5e-3\n4 2:7\n")
    rows = run_benchmark(tmp_path, "read", file, "--rounds", 2)
    assert "train.txt: 0.0 MB of text, 3 instances; page cache, minimum of 2" in capsys.readouterr().out
    for reader in ("xmlc", "scikit-learn"):
        time, speed = (rows[reader, READING, measure, 1] for measure in ("time", "speed"))
        assert len(time["rounds"]) == 2
        assert speed["value"] == file.stat().st_size / 1e6 / time["value"]
    ratio = rows["xmlc", READING, "speed", 1]["value"] / rows["scikit-learn", READING, "speed", 1]["value"]
    assert rows["xmlc / scikit-learn", f"{READING}, compared", "speed", 1]["value"] == ratio


def test_different_arrays_are_noticed(tmp_path, monkeypatch):
    (tmp_path / "train.txt").write_text("1 4 5\n1 0:1\n")
    one = Reading(1.0, 1.0, array_bytes=8, peak_bytes=8, instances=1, digest="a")
    readings = {"xmlc": one, "scikit-learn": replace(one, digest="b")}
    monkeypatch.setattr("benchmarks.read._in_own_process", lambda work, path: readings[work])
    with pytest.raises(XmlcError, match="the readers disagree"):
        bench_read(tmp_path / "train.txt")


def test_without_scikit_learn_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(XmlcError, match=r"pip install '\.\[peers\]'"):
        READERS["scikit-learn"](tmp_path / "train.txt")
