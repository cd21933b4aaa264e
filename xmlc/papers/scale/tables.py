"""The table of the suite scale: costs of each step, and their growth from one dataset to the next."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.papers.tables.columns import MISSING
from xmlc.papers.tables.table import Panel, Published, Table, average_seeds, csv_frame, side_by_side, table
from xmlc.papers.tables.titles import model_title, step_title
from xmlc.records.step import EVERY, StepRecord
from xmlc.records.step import frame as step_frame
from xmlc.suites.needs import STEPS

STEP_KEYS = ("dataset", "model", "step")
COSTS = ("step_seconds", "cpu_seconds", "step_peak_mb", "disk_mb", "step_threads")
GROWING = ("step_seconds", "cpu_seconds", "step_peak_mb", "disk_mb")
RATIO = "_growth"
TOTAL = "all steps"


@table("scale", STEP_KEYS, STEPS)
def scale(paper: str, records: Sequence[StepRecord], published: Published) -> Table:
    """Build the table of steps: seconds, memory, disk and threads of each, and growth from the first dataset on."""
    steps = step_frame(records).assign(step=[step_title(record.step) for record in records])
    averaged = average_seeds(steps, STEP_KEYS)
    parts = [pd.concat([rows, _total(rows)]) for _, rows in averaged.groupby("dataset", sort=False)]
    whole = with_growth(pd.concat(parts, ignore_index=True))
    grown = [name + RATIO for name in GROWING]
    frame = csv_frame(whole, STEP_KEYS, (*COSTS, *grown))
    panels = [_panel("", frame, COSTS, published)]
    shared = frame[frame[grown].notna().any(axis=1)].reset_index(drop=True)
    if len(shared):
        panels.append(_panel(f"Beside {frame['dataset'].iloc[0]}", shared, grown, published))
    caption = (
        "What each step costs. Times are wall-clock times of the whole process, start, compilation, reading, computing "
        "and writing, and the processor seconds of all its threads. Peak memory is the largest resident memory of the "
        "process, pages of mapped files included. MB are 10^6 bytes; a dash on disk means a record of a few kB. All "
        "steps together, one after the other: seconds and files are summed, the peak is the largest."
    )
    if len(shared):
        caption += " The second part has how many times as much a step costs as the same step on the first dataset."
    return Table("scale", paper, STEP_KEYS, frame, caption, panels, _notes(records))


def with_growth(steps: pd.DataFrame) -> pd.DataFrame:
    """Add how many times as much each step costs as on the first dataset; missing where that has no such step."""
    steps = steps.copy()
    first = steps["dataset"] == steps["dataset"].iloc[0]
    keys = list(zip(steps["model"], steps["step"], strict=True))
    alone = first | (steps["step"] == TOTAL)  # datasets have different steps
    for name in GROWING:
        of_first = {key: value for key, value, own in zip(keys, steps[name], first, strict=True) if own}
        steps[name + RATIO] = (steps[name] / [of_first.get(key, float("nan")) for key in keys]).mask(alone)
    return steps


def _panel(title: str, rows: pd.DataFrame, names: Sequence[str], published: Published) -> Panel:
    return Panel(title, rows, STEP_KEYS, [side_by_side(rows, published, name, contest="") for name in names])


def _total(rows: pd.DataFrame) -> pd.DataFrame:
    """Sum the steps of one dataset, each seed's mean once."""
    together = {
        "dataset": rows["dataset"].iloc[0],
        "model": EVERY,
        "step": TOTAL,
        "step_seconds": rows["step_seconds"].sum(),
        "cpu_seconds": rows["cpu_seconds"].sum(skipna=False),
        "step_peak_mb": rows["step_peak_mb"].max(),
        "disk_mb": rows["disk_mb"].sum(),
        "step_threads": rows["step_threads"].max(),
        "seeds": rows["seeds"].max(),
    }
    return pd.DataFrame([together])


def _notes(records: Sequence[StepRecord]) -> list[str]:
    """Describe data, models, estimates and machine, as recorded by the steps."""
    trained = [record for record in records if record.step["name"] == "train"]
    data = list({record.dataset.name: record.dataset for record in trained if record.dataset}.values())
    lines = [
        f"{one.name}: {one.n_train:,} training and {one.n_test:,} test instances, {one.d:,} features, "
        f"{one.m:,} labels, {one.labels_per_instance:.2f} labels per instance (digest {one.digest[:12]})."
        for one in data
    ]
    for record in records:
        if record.floor is not None and record.parts is not None:
            sizes = [f"{part.estimates_per_instance:.1f} in {name}" for name, part in record.parts.items()]
            lines.append(
                f"Estimates of {model_title(record.model_name or '')} on {record.dataset_name} are written above "
                f"{record.floor:g}, per instance {' and '.join(sizes)}; thresholds below are not tried."
            )
    machines = dict.fromkeys(record.step["cpu"] for record in records)
    return [*lines, f"Machine: {', '.join(machines) or MISSING}."]
