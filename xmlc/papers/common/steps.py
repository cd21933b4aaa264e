"""The table of steps: what each costs, and how that grows with the data."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xmlc.numbers.columns import MISSING
from xmlc.numbers.long import Key, LongRow, Mean, Row, Rows, average, is_missing
from xmlc.numbers.titles import model_title, step_title
from xmlc.papers.table import Table, TableDefinition, panel_of
from xmlc.records.step import StepRecord
from xmlc.suites.planned import Where

STEP_KEYS = ("dataset", "model", "step")
GROWING = ("step_seconds", "cpu_seconds", "step_peak_mb", "disk_mb")
RATIO = "_growth"
GROWN = tuple(name + RATIO for name in GROWING)
TOTAL, EVERY = "all steps", "all models"


def _scale(table: Table) -> None:
    """Make the table: steps of each dataset with their sum, then growth from the first dataset on."""
    titles = {
        source.path: step_title(source.record.step)
        for source in table.given[0]
        if isinstance(source.record, StepRecord)
    }

    def key(number: LongRow) -> Key:
        return number.dataset, number.model or EVERY, titles[number.record]

    numbers = (number._replace(seed=number.seed or 0) for number in table.numbers())
    means = average(numbers, key)
    rows: Rows = {}
    datasets = list(dict.fromkeys(dataset for dataset, *_ in means))
    for dataset in datasets:
        own = {key: row for key, row in means.items() if key[0] == dataset}
        rows |= own | {(dataset, EVERY, TOTAL): _total(list(own.values()))}
    table.rows = with_growth(rows)
    shared = [key for key, row in table.rows.items() if any(name + RATIO in row for name in GROWING)]
    table.caption = (
        "What each step costs. Times are wall-clock times of the whole process, start, compilation, reading, computing "
        "and writing, and the processor seconds of all its threads. Peak memory is the largest resident memory of the "
        "process, pages of mapped files included. MB are 10^6 bytes; a dash on disk means a record of a few kB. All "
        "steps together, one after the other: seconds and files are summed, the peak is the largest."
    )
    if shared:
        table.caption += (
            " The second part has how many times as much a step costs as the same step on the first dataset."
        )
    table.panels = [panel_of(table, "", list(table.rows), (*GROWING, "step_threads"), contests="")]
    table.panels += [panel_of(table, f"Beside {datasets[0]}", shared, GROWN, contests="")] * bool(shared)
    table.notes = _about(table.records)


def with_growth(rows: Rows) -> Rows:
    """Add how many times as much each step costs as on the first dataset; nothing where that has no such step."""
    first = next(iter(rows))[0]
    found: Rows = {}
    for (dataset, model, step), row in rows.items():
        base = rows.get((first, model, step), {})
        if dataset != first and step != TOTAL:  # datasets have different steps
            ratios = {
                name + RATIO: Mean(row[name].value / base[name].value)
                for name in GROWING
                if name in base and base[name].value
            }
            row = row | {name: mean for name, mean in ratios.items() if not is_missing(mean.value)}
        found[dataset, model, step] = row
    return found


def _total(steps: Sequence[Row]) -> Row:
    """Sum the steps of one dataset, each seed's mean once."""

    def there(name: str) -> list[float]:
        return [row[name].value for row in steps if not is_missing(row[name].value)]

    sums = {name: Mean(math.fsum(there(name))) for name in ("step_seconds", "cpu_seconds", "disk_mb")}
    largest = {name: Mean(max(there(name))) for name in ("step_peak_mb", "step_threads", "seeds")}
    return sums | largest


def _about(records: Sequence[StepRecord]) -> list[str]:
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
                f"Estimates of {model_title(record.model_name)} on {record.dataset_name} are written above "
                f"{record.floor:g}, per instance {' and '.join(sizes)}; thresholds below are not tried."
            )
    machines = dict.fromkeys(record.step["cpu"] for record in records)
    return [*lines, f"Machine: {', '.join(machines) or MISSING}."]


scale = TableDefinition(
    name="scale", needs=(Where("step"),), keys=STEP_KEYS, columns=(*GROWING, "step_threads", *GROWN), build=_scale
)
