"""The table of steps: what each of them cost, from the start of its process to the last byte written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xmlc.records.checked import read_checked
from xmlc.suites.needs import STEPS
from xmlc.tables.columns import MISSING
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.seeds import average_seeds
from xmlc.tables.table import Records, Table, csv_frame, table
from xmlc.tables.titles import method_title, model_title

STEP_KEYS = ("dataset", "model", "step")
COSTS = ("step_seconds", "step_peak_mb", "disk_mb", "step_threads")
EVERY = "all models"  # of a step that no model has its own of
TOTAL = "all steps"
RECORDS_IN_FOLDERS = ("source.json", "estimate.json", "tuning.json")
PORTIONS = {"full": "100 %", "80": "80 %"}
_TEXT, _AMOUNT = {"type": "string"}, {"type": "number", "minimum": 0}
_OPTIONAL = {"type": ["string", "null"]}
_STEP = {
    "name": _TEXT,
    "dataset": _TEXT,
    "model": _OPTIONAL,
    "portion": _OPTIONAL,
    "method": _OPTIONAL,
    "seconds": _AMOUNT,
    "peak_bytes": _AMOUNT,
    "written_bytes": {"type": ["number", "null"]},
    "threads": {"type": "integer"},
    "cpu": _TEXT,
}
_SCHEMA = {
    "type": "object",
    "required": ["step"],
    "properties": {"step": {"type": "object", "required": list(_STEP), "properties": _STEP}},
}


def read_steps(paths: Iterable[Path]) -> Records:
    """Read what steps wrote, files or folders, in which they tell their costs (`xmlc.passport.step_costs`), in order.

    Raises
    ------
    XmlcError
        A file is not readable, or tells no costs.
    """
    return [read_checked(record_in(path), _SCHEMA, "what a step of this version wrote") for path in paths]


def record_in(path: Path) -> Path:
    """Return the file that tells the costs of a step: what it wrote, or the file of this kind in its folder."""
    found = (path / name for name in RECORDS_IN_FOLDERS)
    return next((file for file in found if file.is_file()), path)


@table("scale", STEP_KEYS, STEPS)
def scale(paper: str, records: Records, published: Published) -> Table:
    """Build the table of steps: seconds, memory, disk and threads of each, and of all together."""
    steps = pd.DataFrame([step_row(record) for record in records])
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


def step_row(record: dict[str, Any]) -> dict[str, Any]:
    """Return the row of one step, with the columns of the table."""
    step = record["step"]
    disk = step["written_bytes"]
    return {
        "dataset": step["dataset"],
        "model": step["model"] or EVERY,
        "step": _title(step),
        "seed": record.get("seed", 0),
        "step_seconds": step["seconds"],
        "step_peak_mb": step["peak_bytes"] * 1e-6,
        "disk_mb": float("nan") if disk is None else disk * 1e-6,
        "step_threads": step["threads"],
    }


def _title(step: dict[str, Any]) -> str:
    """Name a step: a threshold step by its method, a training by the portion of the training set."""
    if step["method"]:
        return f"{step['name']}, {method_title(step['method'])}"
    return f"{step['name']}, {PORTIONS[step['portion']]}" if step["name"] == "train" else step["name"]


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


def _notes(records: Sequence[dict[str, Any]]) -> list[str]:
    """Describe data, models, estimates and machine by what the steps wrote."""
    trained = [record for record in records if record["step"]["name"] == "train"]
    data = {record["dataset"]["name"]: record["dataset"] for record in trained}
    lines = [
        f"{name}: {block['n_train']:,} training and {block['n_test']:,} test instances, {block['d']:,} features, "
        f"{block['m']:,} labels, {block['labels_per_instance']:.2f} labels per instance "
        f"(digest {block['digest'][:12]})."
        for name, block in data.items()
    ]
    for record in {record["step"]["model"]: record for record in trained}.values():
        changed = ", ".join(f"{key} {value}" for key, value in record["hyperparameters"].items() if value is not None)
        lines.append(f"{model_title(record['step']['model'])}: {changed}.")
    for record in (record for record in records if "floor" in record):
        sizes = [f"{part['estimates_per_instance']:.1f} in {name}" for name, part in record["parts"].items()]
        lines.append(
            f"Estimates of {model_title(record['step']['model'])} are written above {record['floor']:g}, "
            f"per instance {' and '.join(sizes)}; thresholds below are not tried."
        )
    machines = dict.fromkeys(record["step"]["cpu"] for record in records)
    return [*lines, f"Machine: {', '.join(machines) or MISSING}."]
