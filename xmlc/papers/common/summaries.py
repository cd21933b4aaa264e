"""Tables 1-5 of swnn2018, Table 3 of ldsm2020 and Table 1 of oplt2021: sizes and statistics of the datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
SIZES = ("d", "n_train", "n_test")
AVERAGES = ("labels_per_instance", "instances_per_label")
PRINTED_DECIMALS = 2
# Key of the statistics for each column of `SUMMARY_TITLES`.
NUMBERS = dict(zip(SUMMARY_TITLES, ("min", "lower_quartile", "median", "upper_quartile", "max", "mean"), strict=True))
# Table: what of the training part it summarises, and how its caption says so.
SUMMARISED = {
    "table2": ("instances_per_label_seen", "occurrences of a label, over the labels that occur in the training set"),
    "table3": ("labels_per_instance", "labels of an instance, over all instances of the training set"),
    "table4": (
        "activations_per_instance",
        "feature activations of an instance, over all instances of the training set, those without any included",
    ),
    "table5": (
        "occurrences_per_feature_seen",
        "occurrences of a feature, over the features that occur in the training set",
    ),
}
QUARTILES = (
    "Quartiles interpolate linearly between order statistics; which of the usual definitions the paper follows it does "
    "not say, and it prints whole numbers."
)

_COUNT = {"type": "integer", "minimum": 0}
_SUMMARY = {
    "type": "object",
    "required": list(NUMBERS.values()),
    "properties": {name: {"type": "number", "minimum": 0} for name in NUMBERS.values()},
}
_PART = {name: _SUMMARY for name in {*(of for of, _ in SUMMARISED.values()), *AVERAGES}} | {"instances": _COUNT}
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


def sizes_table(paper: str, records: Records, published: Published) -> Table:
    """Build Table 1 of swnn2018: number of features and instances of each dataset."""
    rows = [
        {"dataset": r["name"], "d": r["d"], "n_train": r["train"]["instances"], "n_test": r["test"]["instances"]}
        for r in records
    ]
    frame = pd.DataFrame(rows)
    caption = "The datasets: number of features, of training and of test instances."
    return _table("table1", paper, records, published, frame, frame, SIZES, caption)


def counts_table(paper: str, records: Records, published: Published) -> Table:
    """Build Table 1 of oplt2021: numbers of instances, labels and features."""
    rows = [
        {"dataset": r["name"], "n_train": r["train"]["instances"], "n_test": r["test"]["instances"], "m": r["m"]}
        | {"d": r["d"]}
        for r in records
    ]
    frame = pd.DataFrame(rows)
    caption = "The datasets: training and test instances, labels, features."
    return _table("table1", paper, records, published, frame, frame, ("n_train", "n_test", "m", "d"), caption)


def averages_table(paper: str, records: Records, published: Published) -> Table:
    """Build Table 3 of ldsm2020: sizes of the datasets, average numbers of labels and of instances of a label."""
    rows = [
        {"dataset": r["name"], "d": r["d"], "m": r["m"], "n_train": r["train"]["instances"]}
        | {"n_test": r["test"]["instances"]}
        | {name: r["train"][name]["mean"] for name in AVERAGES}
        for r in records
    ]
    frame = pd.DataFrame(rows)
    caption = (
        "The datasets: features, labels, training and test instances, and the averages of labels per instance and of "
        "instances per label over the training set. The paper's instances per label of Mediamill, Bibtex, Delicious "
        "and Eurlex are over training and test set together."
    )
    return _table("table3", paper, records, published, frame, frame, ("d", "m", *SIZES[1:], *AVERAGES), caption)


def summary_table(name: str) -> Callable[[str, Records, Published], Table]:
    """Return the builder of one of Tables 2-5 of swnn2018: a five-number summary and the average of each dataset."""
    counted, text = SUMMARISED[name]

    def build(paper: str, records: Records, published: Published) -> Table:
        rows = [
            {"dataset": record["name"]}
            | {column: record["train"][counted][number] for column, number in NUMBERS.items()}
            for record in records
        ]
        frame = pd.DataFrame(rows)
        caption = f"Five-number summary and average of the number of {text}. {QUARTILES}"
        printed = frame.round(PRINTED_DECIMALS)
        return _table(name, paper, records, published, frame, printed, tuple(NUMBERS), caption, _left_out(counted))

    return build


def _table(
    name: str,
    paper: str,
    records: Records,
    published: Published,
    frame: pd.DataFrame,
    printed: pd.DataFrame,
    columns: Sequence[str],
    caption: str,
    left_out: Callable[[Records], list[str]] = lambda records: [],
) -> Table:
    measured = [side_by_side(printed, published, column, contest="") for column in columns]
    panels = [Panel("", printed, SUMMARY_KEYS, measured), *papers_others(published, frame, columns)]
    footnotes = [digests_line({record["name"]: record["digest"] for record in records}), *left_out(records)]
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


def _left_out(counted: str) -> Callable[[Records], list[str]]:
    """Say how many labels or features never occur in the training set and are in no number of the table."""
    what = {"instances_per_label_seen": "labels", "occurrences_per_feature_seen": "features"}.get(counted)

    def lines(records: Records) -> list[str]:
        never = {record["name"]: record["train"][f"{what}_never_seen"] for record in records}
        listed = ", ".join(f"{name} ({number})" for name, number in never.items() if number)
        return [f"Left out, because they never occur in the training set, are {what} of {listed}."] if listed else []

    return lines if what else lambda records: []
