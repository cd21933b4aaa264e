"""What compiling costs: measured in processes of their own, by part and by function."""

import json

from bench_rows import by_key

from xmlc.bench import compilation as bench
from xmlc.bench.harness import CPU_TIME, Rows
from xmlc.compiling import Part

# A baseline has nothing to compile, and need not be installed.
THEIRS = Part("model", "theirs", json.dumps({"estimator": "omikuji-parabel", "hyperparameters": {}}))


def test_each_part_is_measured_in_a_process_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "parts_of", lambda suite: [THEIRS, THEIRS._replace(title="again")])
    report = bench.bench_compilation(tmp_path / "demo.yaml", 1)
    rows = by_key(report.rows)
    names = {name for name, task, measure, _ in rows if (task, measure) == (bench.PARTS, CPU_TIME)}
    assert names == {"theirs", "again", "all"}
    assert rows["all", bench.PARTS, bench.WALL_TIME, 1]["value"] > 0
    assert {task for _, task, *_ in rows} == {bench.PARTS}  # nothing was compiled


def test_costs_are_added_by_part_and_function():
    compiled = [
        bench.Compiled("plt", "xmlc.a.f", "(int64,)", 2.0),
        bench.Compiled("data", "xmlc.a.f", "(int32,)", 1.0),
        bench.Compiled("data", "numba.np.g", "(int32,)", 0.5),
    ]
    rows = Rows("compile", "demo")
    bench.add_parts(rows, [bench.PartCosts("plt", 9.0, 2.5), bench.PartCosts("data", 9.0, 2.0)], compiled)
    bench.add_functions(rows, compiled)
    parts = {name: [row.value for row in rows.of(name, bench.PARTS)] for name in ("plt", "data", "all")}
    assert parts == {"plt": [2.5, 1, 2, 0, 0, 9], "data": [2.0, 1, 1, 1, 0.5, 9], "all": [4.5, 2, 3, 1, 0.5]}
    assert [row.value for row in rows.of("xmlc.a.f", bench.COSTLY)] == [2, 2, 2, 3.0]
    assert [row.note for row in rows.of("xmlc.a.f", bench.EVERY)] == ["plt: (int64,)", "data: (int32,)"]
