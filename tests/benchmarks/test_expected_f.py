"""Test that each contender of the benchmark of expected macro-F runs the method that it names."""

import lzma

from benchmark_rows import run_benchmark


def test_estimates_of_another_program_are_split_into_halves(tmp_path):
    for name, line in (("estimates", "0:0.9 1:0.01\n"), ("labels", "0\n")):
        with lzma.open(tmp_path / f"{name}.txt.xz", "wt") as file:
            file.write(line * 20)
    rows = run_benchmark(tmp_path, "expected-f", "--data", tmp_path, "--seeds", 2)
    assert rows["given, 80 %", "ExpectedF(zero_division=1)", "macro_f", 1]["rounds"] == [100, 100]
    assert rows["given, 80 %", "labels, training instances from 1", "labels", 1]["value"] == 0
