"""Tables of statistics of datasets, which several papers have: sizes, averages, five-number summaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.records.checked import read_checked
from xmlc.tables.columns import SUMMARY_TITLES
from xmlc.tables.notes import digests_line
from xmlc.tables.panels import Panel, Published, side_by_side
from xmlc.tables.table import Records, Table

SUMMARY_KEYS = ("dataset",)
AVERAGES = ("labels_per_instance", "instances_per_label")
# Key of the statistics for each column of `SUMMARY_TITLES`.
NUMBERS = dict(zip(SUMMARY_TITLES, ("min", "lower_quartile", "median", "upper_quartile", "max", "mean"), strict=True))
# What of the training part statistics summarise by five numbers and an average.
COUNTED = (
    "instances_per_label_seen", "labels_per_instance", "activations_per_instance", "occurrences_per_feature_seen",
)  # fmt: skip

_COUNT = {"type": "integer", "minimum": 0}
_SUMMARY = {
    "type": "object",
    "required": list(NUMBERS.values()),
    "properties": {name: {"type": "number", "minimum": 0} for name in NUMBERS.values()},
}
_PART = {name: _SUMMARY for name in {*COUNTED, *AVERAGES}} | {"instances": _COUNT}
_TRAIN = {
    "type": "object",
    "required": [*_PART, "labels_never_seen", "features_never_seen"],
    "properties": _PART | {"labels_never_seen": _COUNT, "features_never_seen": _COUNT},
}
_TEST = {"type": "object", "required": ["instances"], "properties": {"instances": _COUNT}}
_CONTENT = {
    "name": {"type": "string"},
    "digest": {"type": "string"},
    "d": _COUNT,
    "m": _COUNT,
    "train": _TRAIN,
    "test": _TEST,
}
_SCHEMA = {"type": "object", "required": list(_CONTENT), "properties": _CONTENT}


def read_statistics(paths: Iterable[Path]) -> Records:
    """Read files of statistics that `xmlc prepare` wrote, in their order.

    Raises
    ------
    XmlcError
        A file is not readable, lacks something, or is the second of a dataset.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        content = read_checked(path, _SCHEMA, "statistics by `xmlc prepare` of this version")
        if content["name"] in found:
            raise XmlcError(f"{path}: second statistics of {content['name']}; give each dataset once")
        found[content["name"]] = content
    return list(found.values())


def sizes_of(records: Records) -> pd.DataFrame:
    """Return one row for each dataset: instances of both parts, features, labels, and averages of the training part."""
    return pd.DataFrame(
        [
            {"dataset": r["name"], "n_train": r["train"]["instances"], "n_test": r["test"]["instances"]}
            | {"d": r["d"], "m": r["m"]}
            | {name: r["train"][name]["mean"] for name in AVERAGES}
            for r in records
        ]
    )


def dataset_table(
    name: str,
    paper: str,
    records: Records,
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
    footnotes = [digests_line({record["name"]: record["digest"] for record in records}), *left_out]
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
