"""The table of what jobs requested, and took."""

import pytest

from xmlc.papers.common.resources import jobs_frame, resources
from xmlc.records.step import StepRecord
from xmlc.tables.table import Published


def record(name, mb, cpu, plan=None, method=None, portion="80", seed=0):
    step = {"name": name, "dataset": "yeast", "model": "plt", "portion": portion, "method": method, "seconds": 9.0}
    step |= {"peak_bytes": mb * 10**6, "written_bytes": None, "threads": 1, "cpu": "a processor", "cpu_seconds": cpu}
    return StepRecord(step=step | ({"plan": plan} if plan else {}), seed=seed)


PLAN = {"job": "thresholds", "mb": 200.0}
RECORDS = [
    record("train", 190, 2.0, {"job": "train", "mb": 209.0}),
    record("threshold", 150, 1.5, PLAN, "fta"),
    record("evaluate", 160, 0.5, PLAN, "fta"),
    record("rank", 170, 1.0, portion="full"),
]


def test_what_one_job_did_has_the_largest_memory_and_the_sum_of_the_seconds():
    found = jobs_frame(RECORDS).set_index("job")
    assert list(found.index) == ["train on 80 %", "thresholds on 80 %", "rank"]
    assert found.loc["thresholds on 80 %", ["step_peak_mb", "cpu_seconds", "planned_mb"]].tolist() == [160, 2, 200]


def test_a_ratio_is_of_what_was_requested_over_what_was_used():
    made = resources("a", RECORDS, Published({}, ("dataset", "model", "job"))).frame.set_index("job")
    assert made.loc["train on 80 %", "planned_mb_ratio"] == pytest.approx(1.1)
    assert made.loc["rank", ["planned_mb", "planned_mb_ratio"]].isna().all()
