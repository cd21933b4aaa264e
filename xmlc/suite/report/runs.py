"""Write config/runs.csv: our results for several seeds, which show the variation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.core.files import write_text
from xmlc.suite.papers import table_of
from xmlc.suite.papers.building import Known, build_table
from xmlc.suite.report.verdicts import BETWEEN, RUN_COLUMNS, NumberKind, kind_of, read_runs
from xmlc.suite.results.columns import column
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.numbers import as_float
from xmlc.suite.results.records.base import RecordFile
from xmlc.suite.results.records.ranking import RankingRecord

JUDGED = (NumberKind.MEASURED, NumberKind.QUOTED)


def write_runs(runs: pd.DataFrame, file: Path) -> None:
    """Write the lines of ``runs`` to the sorted CSV file, in which lines of other datasets stay."""
    measured = {_dataset(*line) for line in runs.itertuples(index=False, name=None)}
    earlier = read_runs(file).itertuples(index=False, name=None)
    lines = [line for line in earlier if _dataset(*line) not in measured]
    lines += runs.itertuples(index=False, name=None)
    lines.sort(key=lambda line: (*line[:2], line[2].split(BETWEEN), line[3]))
    write_text(
        file, pd.DataFrame(lines, columns=RUN_COLUMNS).to_csv(index=False, lineterminator="\n")
    )


def _dataset(paper: str, table: str, row: str, *_: str) -> tuple[str, str, str]:
    """Return paper, table and dataset of a line, or "" in a table without datasets."""
    key = dict(zip(table_of(table, paper).keys, row.split(BETWEEN), strict=False))
    return paper, table, key.get("dataset", "")


def runs_of(finished: Iterable[Manifest]) -> pd.DataFrame:
    """Return our values of all seeds for each published number in tables."""
    lines = []
    known: Known = {}
    for made in finished:
        table = build_table(made, known)
        for cell in table.means[table.means["is_run"]].to_dict("records"):
            quantity = cell["quantity"]
            runs = cell.get("runs")
            is_judged = kind_of(quantity, table.spec, cell.get("model", "")) in JUDGED
            # Numbers that a table computes from means have no runs
            if not is_judged or as_float(cell["published"]) is None or not isinstance(runs, tuple):
                continue
            runs = [(str(seed), f"{value:.6g}") for seed, value in runs if pd.notna(value)]
            if len(runs) > 1:
                row = BETWEEN.join(cell[key] for key in table.spec.keys)
                error = split_error((known[path] for path in cell["records"]), quantity)
                lines.append(
                    (
                        table.paper,
                        table.spec.name,
                        row,
                        quantity,
                        *map(" ".join, zip(*runs, strict=True)),
                        error,
                    )
                )
    if not lines:
        raise XmlcError(
            "found no table cell with a published number and several seeds. "
            "Build tables with --config seeds='[0, 1, 2, 3, 4]'"
        )
    return pd.DataFrame(lines, columns=RUN_COLUMNS)


def split_error(records: Iterable[RecordFile], name: str) -> str:
    """Return the standard error of a ranking measure over random splits, in its column's unit.

    It is the mean over records as text, or "". Because the recorded error assumes independent
    draws, but the test set is a sample without replacement from n_train + n_test instances, it is
    multiplied by sqrt(1 - n_test / (n_train + n_test)).
    """
    errors = []
    for record in records:
        if isinstance(record, RankingRecord) and name in record.standard_errors:
            n_train = record.dataset.n_train
            share = n_train / (n_train + record.dataset.n_test)
            errors.append(record.standard_errors[name] * math.sqrt(share))
    if not errors:
        return ""
    scale = 100 if column(name).unit == "%" else 1
    return f"{scale * fmean(errors):.3g}"
