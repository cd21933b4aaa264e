"""The benchmark of inference: it measures what it promises."""

from benchmark_rows import run_benchmark
from small_data import prepare_tiny

from benchmarks import inference as bench


def test_everything_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "AT_LEAST", 0.0)
    rows = run_benchmark(tmp_path, "inference", "--data", prepare_tiny(tmp_path), "--samples", 20, "--rounds", 2)
    times = {name: rows[name, bench.INFERENCE, "time", 1] for name in bench.METHODS}
    assert {len(row["rounds"]) for row in times.values()} == {2}
    for name, row in times.items():
        assert rows[name, bench.INFERENCE, "time / gfm's", 1]["value"] == row["value"] / times["gfm"]["value"]
    f = [rows[name, bench.INFERENCE, "instance-F", 1]["value"] for name in ("meuf", "meuf-cubic")]
    assert f[0] == f[1]
