"""The table of resources: the memory that each job requested, and what it took."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.records.step import EVERY, StepRecord
from xmlc.suites.needs import JOBS
from xmlc.tables.columns import MISSING
from xmlc.tables.table import Panel, Published, Table, average_seeds, csv_frame, side_by_side, table

JOB_KEYS = ("dataset", "model", "job")
COSTS = ("planned_mb", "step_peak_mb", "planned_mb_ratio", "cpu_seconds", "step_threads")
PARTS = {"80": " on 80 %", "full": "", None: ""}


@table("resources", JOB_KEYS, JOBS)
def resources(paper: str, records: Sequence[StepRecord], published: Published) -> Table:
    """Build the table of resources: the memory of each job, requested and used, and its processor seconds."""
    averaged = average_seeds(jobs_frame(records), JOB_KEYS)
    averaged["planned_mb_ratio"] = averaged["planned_mb"] / averaged["step_peak_mb"]
    frame = csv_frame(averaged, JOB_KEYS, COSTS)
    columns = [side_by_side(frame, published, name, contest="") for name in COSTS]
    caption = (
        "The memory that each job requested, an upper bound, and what it took: the largest resident memory of "
        "its process, pages of mapped files included, in 10^6 bytes, and processor seconds of all its threads, "
        "from start to end. A job of several steps has the largest "
        f"memory and the sum of the seconds; a {MISSING} means that nobody planned it."
    )
    machines = dict.fromkeys(record.step["cpu"] for record in records)
    panel = Panel("", frame, JOB_KEYS, columns)
    return Table("resources", paper, JOB_KEYS, frame, caption, [panel], [f"Machine: {', '.join(machines)}."])


def jobs_frame(records: Sequence[StepRecord]) -> pd.DataFrame:
    """Return one row for each job and seed; what one job did are records with the same plan, data, model and part."""
    steps = pd.DataFrame([_row(record) for record in records])
    found = steps.groupby(["dataset", "model", "job", "seed"], sort=False)
    used = {"step_peak_mb": "max", "cpu_seconds": "sum", "step_threads": "max"}
    return found.agg({"planned_mb": "first", **used}).reset_index()


def _row(record: StepRecord) -> dict[str, object]:
    step = record.step
    plan = step.get("plan")
    return {
        "dataset": record.dataset_name,
        "model": record.model_name or EVERY,
        "seed": record.seed or 0,
        "job": (plan["job"] if plan else step["name"]) + PARTS[step["portion"]],
        "planned_mb": plan["mb"] if plan else None,
        "step_peak_mb": step["peak_bytes"] * 1e-6,
        "cpu_seconds": step.get("cpu_seconds"),
        "step_threads": step["threads"],
    }
