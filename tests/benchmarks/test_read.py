"""The benchmark of reading: it measures both readers, on equal arrays."""

from benchmark_rows import run_benchmark
from facts import raises_with

from benchmarks import read as bench
from xmlc.core.errors import XmlcError

TEXT = "3 4 5\n1,2 0:1 3:0.1\n 1:2.5e-3\n4 2:7\n"


def test_different_arrays_are_detected(tmp_path, monkeypatch):
    (tmp_path / "train.txt").write_text(TEXT)
    X, labels, m = bench.read_by_baseline(tmp_path / "train.txt")
    X.data[0] = 2
    monkeypatch.setattr(bench, "read_by_baseline", lambda file: (X, labels, m))
    with raises_with(XmlcError, "train.txt"):
        run_benchmark(tmp_path, "read", tmp_path / "train.txt")
