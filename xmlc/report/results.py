"""The long table of a run as CSV: each number of the records behind finished tables, and how the record came about.

A number that is missing has a row too, with the reason in place of a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from xmlc.numbers.columns import COLUMNS
from xmlc.numbers.long import LongRow, is_missing, long_of
from xmlc.numbers.made_of import MadeOf
from xmlc.numbers.passports import RecordPassport, passport_columns
from xmlc.papers.building import sources_of
from xmlc.report.failures import Failure
from xmlc.suites.suite import find_suite

MEASURED, FAILED, LEFT_OUT = "measured", "failed", "left out"
LONG_COLUMNS = (*LongRow._fields, "unit", "status", "reason", "papers", *RecordPassport._fields)


def long_table(tables: Sequence[MadeOf], failures: Iterable[Failure] = (), config: Path | None = None) -> pd.DataFrame:
    """Return the long table of finished tables, with what failed and what the configuration leaves out.

    Parameters
    ----------
    tables : sequence of MadeOf
    failures : iterable of Failure
        Steps that failed.
    config : Path or None
        Folder with ``papers/<paper>.yaml`` and suites such as ``demo.yaml``, which say what was left out and why.

    Returns
    -------
    DataFrame
        `LONG_COLUMNS`; a value is in its unit.

    Raises
    ------
    XmlcError
        A record does not fit.
    """
    sources = sources_of(tables)
    rows: list[dict[str, object]] = []
    for source, papers in sources:
        origin = passport_columns(source.record)._asdict() | {"papers": " ".join(papers)}
        for number in long_of([source]):
            about = number._asdict() | origin | {"record": source.path.as_posix()}
            if number.quantity == "note":
                rows += [about | {"quantity": "", "value": None, "status": FAILED, "reason": number.value}] * bool(
                    number.value
                )
            elif not is_missing(number.value):
                unit = COLUMNS[number.quantity].unit if number.quantity in COLUMNS else ""
                rows.append(about | {"unit": unit, "status": MEASURED})
    for paper in dict.fromkeys(made.paper for made in tables):
        datasets = {source.record.dataset_name for source, papers in sources if paper in papers}
        suite = find_suite(paper, config) if config else None
        rows += [
            {"papers": paper, "model": name, "dataset": dataset, "status": LEFT_OUT, "reason": why}
            for name, model in (suite.all_models if suite else {}).items()
            for dataset, why in model.without.items()
            if dataset in datasets
        ]
    rows += [
        {"dataset": one.dataset, "model": one.model, "method": one.step, "seed": one.seed, "status": FAILED,
         "reason": one.reason, "portion": one.portion, "record": one.log.as_posix()}
        for one in failures
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=list(LONG_COLUMNS)).astype({"seed": "Int64"})
