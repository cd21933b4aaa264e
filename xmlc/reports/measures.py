"""Measures other than macro-F, as plt2016's Conclusions ask for: what tuning for one costs on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.reports.columns import column
from xmlc.reports.notes import notes
from xmlc.reports.panels import Panel, Published, side_by_side
from xmlc.reports.records import MEASURE_METHODS, MEASURES, average_seeds, threshold_frame
from xmlc.reports.table import Records, Table, csv_frame
from xmlc.reports.titles import MACRO_F_CONVENTION, model_title

MEASURE_KEYS = ("dataset", "model", "tuned_for")


def measures_table(paper: str, records: Records, published: Published) -> Table:
    """Build the table of measures: a row for each that thresholds were tuned for, a column for each."""
    records = [record for record in records if record["method"] in MEASURE_METHODS]
    if not records:
        raise XmlcError(
            f"measures: no record of the methods {', '.join(MEASURE_METHODS)} is given; expected at least one"
        )
    tuned = threshold_frame(records)
    tuned["tuned_for"] = tuned.pop("method").map(MEASURE_METHODS)
    wanted = (*MEASURES, "predicted_per_instance", "c", "inner_products", "test_ms", "tune_seconds", "test_threads")
    frame = csv_frame(average_seeds(tuned, MEASURE_KEYS), MEASURE_KEYS, wanted)
    printed = [name for name in MEASURES if (frame["tuned_for"] == name).any()]
    panels = [_of_model(model, frame[frame["model"] == model], published, printed) for model in frame["model"].unique()]
    caption = (
        "What tuning thresholds for one measure costs on the others: a row for each measure that thresholds were tuned "
        "for on the validation set, all measures on the test set (%), and in brackets a row's own. For a mean over "
        "labels (macro) each label has its best threshold (STO), for pooled counts (micro) or a mean over instances "
        "all labels have the common threshold that is best; F2 counts recall twice as much as precision. "
        f"{MACRO_F_CONVENTION}"
    )
    return Table("measures", paper, MEASURE_KEYS, frame, caption, panels, notes(paper, records, None, panels))


def _of_model(model: str, rows: pd.DataFrame, published: Published, printed: Sequence[str]) -> Panel:
    """Return one model's rows, each measure's own bracketed; the best is sought among the model's rows."""
    columns = []
    for name in printed:
        part = side_by_side(rows, published, name, heading=column(name).title)
        columns.append(replace(part, marked=(rows["tuned_for"] == name).tolist()))
    columns.append(side_by_side(rows, published, "predicted_per_instance", heading="pred./inst."))
    titled = rows.assign(tuned_for=[column(name).title for name in rows["tuned_for"]])
    return Panel(model_title(model), titled, MEASURE_KEYS, columns)
