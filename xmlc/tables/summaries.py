"""Tables of statistics of datasets, which several papers have: sizes, averages, five-number summaries."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from xmlc.records.statistics import Statistics
from xmlc.tables.columns import SUMMARY_TITLES
from xmlc.tables.notes import digests_line
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.table import Table

SUMMARY_KEYS = ("dataset",)
AVERAGES = ("labels_per_instance", "instances_per_label")
# Key of the statistics for each column of `SUMMARY_TITLES`.
NUMBERS = dict(zip(SUMMARY_TITLES, ("min", "lower_quartile", "median", "upper_quartile", "max", "mean"), strict=True))
# What of the training part statistics summarise by five numbers and an average.
COUNTED = (
    "instances_per_label_seen", "labels_per_instance", "activations_per_instance", "occurrences_per_feature_seen",
)  # fmt: skip


def summaries(records: Sequence[Statistics], counted: Sequence[str] = COUNTED) -> pd.DataFrame:
    """Return the five-number summary and average of each dataset and of each of what is counted, the ``variant``."""
    rows = [
        {"dataset": record.name, "variant": name}
        | {title: getattr(record.train.summary(name), key) for title, key in NUMBERS.items()}
        for record in records
        for name in counted
    ]
    return pd.DataFrame(rows)


def dataset_table(
    name: str,
    paper: str,
    records: Sequence[Statistics],
    published: Published,
    frame: pd.DataFrame,
    caption: str,
    decimals: int | None = None,
    left_out: Sequence[str] = (),
) -> Table:
    """Assemble a table whose rows are datasets.

    Parameters
    ----------
    frame : DataFrame
        ``dataset``, then what is printed.
    decimals : int or None
        To which values are rounded in print.
    left_out : sequence of str
        Footnotes on what is in no number of the table.
    """
    columns = list(frame.columns.drop("dataset"))
    printed = frame if decimals is None else frame.round(decimals)
    measured = [side_by_side(printed, published, column, contest="") for column in columns]
    panels = [Panel("", printed, SUMMARY_KEYS, measured), *papers_others(published, frame, columns)]
    footnotes = [digests_line({record.name: record.digest for record in records}), *left_out]
    if any(part.published for part in measured):
        footnotes.append(f"(paper): the value that {paper} prints.")
    return Table(name, paper, SUMMARY_KEYS, frame, caption, panels, footnotes)


def papers_others(published: Published, frame: pd.DataFrame, columns: Sequence[str]) -> list[Panel]:
    """Return a panel of what the paper prints of datasets that are not in the frame, if there are any."""
    rows = published.frame()
    if len(rows) == 0:
        return []
    rows = rows[~rows["dataset"].isin(set(frame["dataset"]))].reset_index(drop=True)
    nothing = Published({}, SUMMARY_KEYS)
    quoted = [side_by_side(rows, nothing, column, contest="") for column in columns if column in rows]
    title = "Printed in the paper, of datasets that were not run here"
    return [Panel(title, rows, SUMMARY_KEYS, quoted)] if len(rows) else []
