"""Test the record of a sweep."""

from record_cases import environment, step
from record_files import RecordFile, save
from report_cases import sweep

from xmlc.suite.results.records.sweep import SweepRecord

CONTENT = {
    "kind": "sweep",
    "schema": 1,
    "dataset": sweep()["dataset"],
    "estimator": "ldsm",
    "model": "ldsm",
}
CONTENT |= {
    key: sweep()[key] for key in ("hyperparameters", "seed", "split", "settings", "hyperparameter")
}
ROWS = [
    {"value": row.pop("max_nodes"), **row, "predict_ms_per_instance": 0.5}
    for row in sweep()["rows"]
]
CONTENT |= {"rows": ROWS, "costs": {"threads": 2}}
CONTENT |= {"environment": environment(), "step": step("sweep")}


class TestFile(RecordFile):
    kind = SweepRecord
    content = CONTENT
    nan_at = ("rows", 0, "train_seconds")
    broken = ((["rows", 1, "value"], ...), (["rows", 1], 7))


def test_value_can_have_the_name_of_its_hyperparameter(tmp_path):
    rows = []
    for row in ROWS:
        rows.append({"max_nodes" if name == "value" else name: part for name, part in row.items()})
    assert [
        row.value for row in SweepRecord.read(save(tmp_path, CONTENT | {"rows": rows})).rows
    ] == [16, 64, 256]


def test_each_value_is_a_variant(tmp_path):
    record = SweepRecord.read(save(tmp_path, CONTENT))
    assert [row.value for row in record.rows] == [16, 64, 256]
    variants, rows = zip(*record.numbers(), strict=True)
    assert variants == ("max_nodes=16", "max_nodes=64", "max_nodes=256")
    assert [row["p@1"] for row in rows] == [100 * row.metrics["p@1"] for row in record.rows]
    assert [row["depth"] for row in rows] == [3, 5, 7]
    assert [row["value"] for row in rows] == [16, 64, 256]
    assert (rows[0]["train_seconds"], rows[0]["predict_ms"]) == (1.5, 0.5)
