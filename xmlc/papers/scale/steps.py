"""The table of steps: what each of them cost, from the start of its process to the last byte written."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.passport import StepCosts
from xmlc.records.step import EVERY, StepRecord
from xmlc.records.step import frame as step_frame
from xmlc.suites.needs import STEPS
from xmlc.tables.columns import MISSING
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.seeds import average_seeds
from xmlc.tables.table import Table, csv_frame, table
from xmlc.tables.titles import method_title, model_title

STEP_KEYS = ("dataset", "model", "step")
COSTS = ("step_seconds", "step_peak_mb", "disk_mb", "step_threads")
TOTAL = "all steps"
PORTIONS = {"full": "100 %", "80": "80 %"}


@table("scale", STEP_KEYS, STEPS)
def scale(paper: str, records: Sequence[StepRecord], published: Published) -> Table:
    """Build the table of steps: seconds, memory, disk and threads of each, and of all together."""
    steps = step_frame(records).assign(step=[step_title(record.step) for record in records])
    averaged = average_seeds(steps, STEP_KEYS)
    parts = [pd.concat([rows, _total(rows)]) for _, rows in averaged.groupby("dataset", sort=False)]
    frame = csv_frame(pd.concat(parts, ignore_index=True), STEP_KEYS, COSTS)
    columns = [side_by_side(frame, published, name, contest="") for name in COSTS]
    caption = (
        "What each step costs. Times are wall-clock times of the whole process: start, compilation, reading, computing "
        "and writing. Peak memory is the largest resident memory of the process, pages of mapped files included. MB "
        "are 10^6 bytes; a dash on disk means a record of a few kB. All steps together, one after the other: seconds "
        "and files are summed, the peak is the largest."
    )
    return Table("scale", paper, STEP_KEYS, frame, caption, [Panel("", frame, STEP_KEYS, columns)], _notes(records))


def step_title(step: StepCosts) -> str:
    """Name a step: a threshold step by its method, a training by the portion of the training set."""
    if step["method"]:
        return f"{step['name']}, {method_title(step['method'])}"
    return f"{step['name']}, {PORTIONS[step['portion'] or 'full']}" if step["name"] == "train" else step["name"]


def _total(rows: pd.DataFrame) -> pd.DataFrame:
    """Sum the steps of one dataset, each seed's mean once."""
    together = {
        "dataset": rows["dataset"].iloc[0],
        "model": EVERY,
        "step": TOTAL,
        "step_seconds": rows["step_seconds"].sum(),
        "step_peak_mb": rows["step_peak_mb"].max(),
        "disk_mb": rows["disk_mb"].sum(),
        "step_threads": rows["step_threads"].max(),
        "seeds": rows["seeds"].max(),
    }
    return pd.DataFrame([together])


def _notes(records: Sequence[StepRecord]) -> list[str]:
    """Describe data, models, estimates and machine by what the steps wrote."""
    trained = [record for record in records if record.step["name"] == "train"]
    lines = [
        f"{data.name}: {data.n_train:,} training and {data.n_test:,} test instances, {data.d:,} features, "
        f"{data.m:,} labels, {data.labels_per_instance:.2f} labels per instance (digest {data.digest[:12]})."
        for data in {record.dataset.name: record.dataset for record in trained if record.dataset}.values()
    ]
    for record in {record.model_name: record for record in trained}.values():
        settings = record.hyperparameters or {}
        changed = ", ".join(f"{key} {value}" for key, value in settings.items() if value is not None)
        lines.append(f"{model_title(record.model_name or '')}: {changed}.")
    for record in records:
        if record.floor is not None and record.parts is not None:
            sizes = [f"{part.estimates_per_instance:.1f} in {name}" for name, part in record.parts.items()]
            lines.append(
                f"Estimates of {model_title(record.model_name or '')} are written above {record.floor:g}, "
                f"per instance {' and '.join(sizes)}; thresholds below are not tried."
            )
    machines = dict.fromkeys(record.step["cpu"] for record in records)
    return [*lines, f"Machine: {', '.join(machines) or MISSING}."]
