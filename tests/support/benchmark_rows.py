"""Run benchmarks and look up the rows that they write with `--out`."""

import csv

from benchmarks.__main__ import group


def run_benchmark(folder, *arguments):
    """Run a benchmark and return its rows.

    Keys are contender, task, measure and number of threads.
    """
    out = folder / "bench.csv"
    group.main([*map(str, arguments), "--out", str(out)], standalone_mode=False)
    with open(out, newline="") as file:
        rows = list(csv.DictReader(file))
    found = {}
    for row in rows:
        row["value"] = float(row["value"] or "nan")
        row["rounds"] = [float(one) for one in row["rounds"].split()]
        found[row["contender"], row["task"], row["measure"], int(row["threads"])] = row
    assert len(found) == len(rows)  # The benchmark writes no row twice.
    return found
