"""What compiling costs: measured in processes of their own, and told by part and function."""

import json

from xmlc.bench import compilation as bench
from xmlc.bench.compilation import Compilation, Compiled, PartCosts, to_text
from xmlc.bench.results import as_json
from xmlc.compiling import Part

# A program of others has nothing to compile, and need not be installed.
THEIRS = Part("model", "theirs", json.dumps({"estimator": "omikuji-parabel", "hyperparameters": {}}))


def test_each_part_is_measured_in_a_process_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "parts_of", lambda suite: [THEIRS, THEIRS._replace(title="again")])
    content = as_json(bench.measure_compilation(tmp_path, 1))
    assert list(content) == ["wall_seconds", "parts", "compiled"]
    assert [part["part"] for part in content["parts"]] == ["theirs", "again"]
    assert all(set(part) == {"part", "wall_seconds", "cpu_seconds"} for part in content["parts"])
    assert content["compiled"] == []


def test_costs_are_told_by_part_and_function():
    compiled = [
        Compiled("plt", "xmlc.a.f", "(int64,)", 2.0),
        Compiled("data", "xmlc.a.f", "(int32,)", 1.0),
        Compiled("data", "numba.x", "(int64,)", 0.5),
    ]
    parts = [PartCosts("plt", wall_seconds=2.6, cpu_seconds=2.5), PartCosts("data", wall_seconds=1.8, cpu_seconds=1.7)]
    lines = to_text(Compilation(3.0, parts, compiled)).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert ["data", "1.7", "1", "1.0", "1", "0.5"] in cells
    assert ["all", "4.2", "2", "3.0", "1", "0.5"] in cells
    assert ["xmlc.a.f", "2", "2", "2", "3.00"] in cells
