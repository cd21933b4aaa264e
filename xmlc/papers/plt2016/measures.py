"""Measures other than macro-F, which plt2016's Conclusions suggest: what tuning for one costs on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.metrics.measures import LABEL_WISE, MEASURE_METHODS, TUNABLE_MEASURES
from xmlc.records.thresholds import ThresholdRecord
from xmlc.records.thresholds import frame as threshold_frame
from xmlc.suites.needs import MEASURES as MEASURED
from xmlc.tables.columns import column
from xmlc.tables.notes import notes
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.seeds import average_seeds
from xmlc.tables.table import Table, csv_frame, table
from xmlc.tables.titles import MACRO_F_CONVENTION, model_title

MEASURE_KEYS = ("dataset", "model", "tuned_for")


@table("measures", MEASURE_KEYS, MEASURED)
def measures(paper: str, records: Sequence[ThresholdRecord], published: Published) -> Table:
    """Build the table of measures: a row for each that thresholds were tuned for, a column for each."""
    records = [record for record in records if record.method in MEASURE_METHODS]
    if not records:
        raise XmlcError(
            f"measures: no record of the methods {', '.join(MEASURE_METHODS)} is given; expected at least one"
        )
    tuned = threshold_frame(records)
    tuned["tuned_for"] = tuned.pop("method").map(MEASURE_METHODS)
    wanted = (
        *TUNABLE_MEASURES,
        "predicted_per_instance",
        "c",
        "inner_products",
        "test_ms",
        "tune_seconds",
        "test_threads",
    )
    frame = csv_frame(average_seeds(tuned, MEASURE_KEYS), MEASURE_KEYS, wanted)
    printed = [name for name in TUNABLE_MEASURES if any(_own(row) == name for row in frame["tuned_for"])]
    panels = [_of_model(model, frame[frame["model"] == model], published, printed) for model in frame["model"].unique()]
    caption = (
        "What tuning thresholds for one measure costs on the others: a row for each measure that thresholds were tuned "
        "for on the validation set, all measures on the test set (%), and in brackets a row's own. For a mean over "
        "labels (macro), and where it says label-wise, each label has its own best threshold; for pooled counts "
        "(micro) and a mean over instances all labels share the best common one. F2 counts recall twice as much as "
        "precision. "
        f"{MACRO_F_CONVENTION}"
    )
    footnotes = notes(paper, records, (), panels, best_of="each model and dataset")
    return Table("measures", paper, MEASURE_KEYS, frame, caption, panels, footnotes)


def _of_model(model: str, rows: pd.DataFrame, published: Published, printed: Sequence[str]) -> Panel:
    """Return one model's rows, each measure's own bracketed; the best is sought among the model's rows."""
    columns = []
    for name in printed:
        part = side_by_side(rows, published, name, heading=column(name).title)
        columns.append(replace(part, marked=[_own(row) == name for row in rows["tuned_for"]]))
    columns.append(side_by_side(rows, published, "predicted_per_instance", heading="pred./inst."))
    titled = rows.assign(tuned_for=[_title(row) for row in rows["tuned_for"]])
    return Panel(model_title(model), titled, MEASURE_KEYS, columns)


def _own(tuned_for: str) -> str:
    """Return the measure that a row was tuned for, whatever the variant of the method."""
    return tuned_for.removesuffix(LABEL_WISE)


def _title(tuned_for: str) -> str:
    return column(_own(tuned_for)).title + ", label-wise" * tuned_for.endswith(LABEL_WISE)
