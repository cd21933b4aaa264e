"""What the gate costs is measured beside the mere reading of the same arrays."""

import numpy as np

from xmlc.bench.gate import bench_gate, matrix_of, tasks_of


def test_both_do_what_is_said_of_them():
    X = matrix_of(1000)
    gate, reading = tasks_of("a", X)
    assert gate.call() == (True, True)
    assert reading.call() == (X.indices.max(), np.float32(1).view(np.uint32))
    X.indices[0], X.data[0] = 5 * 7, np.nan
    assert gate.call() == (False, False)


def test_the_report_has_both_times_their_ratio_and_the_speed_of_memory():
    report = bench_gate(nonzeros=20_000, rounds=1)
    for place in ("in cache", "in memory"):
        values = {
            (row.contender, row.measure): row.value for row in report.rows if row.task.startswith(f"a matrix {place}")
        }
        ratio = values["gate / reading", "time"]
        assert ratio == values["gate", "time"] / values["reading", "time"]
        assert values["reading", "speed"] == 8 / values["reading", "time"]
