"""Read and write config/runs.csv.

The file contains our results for several seeds, from which the variation over seeds is computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.core.files import write_text
from xmlc.suite.papers import table_of
from xmlc.suite.papers.building import Known
from xmlc.suite.papers.declared import Table
from xmlc.suite.report.verdicts import NumberKind, PublishedKey, Spread, as_float, kind_of
from xmlc.suite.results.columns import column
from xmlc.suite.results.fingerprint import read_table
from xmlc.suite.results.frame import is_missing
from xmlc.suite.results.records.base import RecordFile
from xmlc.suite.results.records.ranking import RankingRecord

COLUMNS = ["paper", "table", "row", "column", "seeds", "values", "split_error"]
BETWEEN = " / "  # Text between the keys of a row in the CSV file.
JUDGED = (NumberKind.MEASURED, NumberKind.QUOTED)


def read_runs(file: Path) -> pd.DataFrame:
    """Return the CSV file of runs as a data frame of texts. The data frame is empty if there is no file.

    Raises
    ------
    XmlcError
        The file cannot be read, has other columns, or has a wrong or repeated line.
    """
    if not file.is_file():
        return pd.DataFrame(columns=COLUMNS, dtype=str)
    frame = read_table(file)
    if list(frame) != COLUMNS:
        raise XmlcError(f"{file}: found columns {', '.join(frame)}, expected {', '.join(COLUMNS)}")
    for line, row in enumerate(frame.itertuples(index=False, name=None), start=2):
        _check(row, f"{file}:{line}")
    if frame.duplicated(COLUMNS[:4]).any():
        line = int(frame.duplicated(COLUMNS[:4]).argmax())
        place = BETWEEN.join(frame.iloc[line, :4])
        raise XmlcError(f"{file}:{line + 2}: found a second line for {place}, expected one")
    return frame


def _check(row: tuple[str, ...], where: str) -> None:
    *_, seeds, values, error = row
    try:
        runs = dict(zip(map(int, seeds.split()), map(float, values.split()), strict=True))
        float(error or 0)
    except ValueError as problem:
        found = f"seeds {seeds!r}, values {values!r}, split error {error!r}"
        raise XmlcError(f"{where}: found {found}: {problem}") from problem
    if len(runs) < 2:
        raise XmlcError(f"{where}: found values of {len(runs)} seeds, expected at least two")


def read_spreads(file: Path) -> dict[PublishedKey, Spread]:
    """Return how much each number in the CSV file varies over seeds."""
    found = {}
    for paper, table, row, name, _, texts, error in read_runs(file).itertuples(index=False, name=None):
        values = [float(text) for text in texts.split()]
        mean = math.fsum(values) / len(values)
        variance = math.fsum((value - mean) * (value - mean) for value in values) / (len(values) - 1)
        spread = Spread(len(values), math.sqrt(variance), float(error) if error else None)
        found[paper, table, tuple(row.split(BETWEEN)), name] = spread
    return found


def write_runs(runs: pd.DataFrame, file: Path) -> None:
    """Write the lines of ``runs`` to the sorted CSV file atomically.

    Lines of the file are kept if ``runs`` does not contain their dataset.
    """
    new, earlier = ([*frame.itertuples(index=False, name=None)] for frame in (runs, read_runs(file)))
    measured = {_dataset(*line) for line in new}
    lines = [*(line for line in earlier if _dataset(*line) not in measured), *new]
    lines.sort(key=lambda line: (*line[:2], line[2].split(BETWEEN), line[3]))
    write_text(file, pd.DataFrame(lines, columns=COLUMNS).to_csv(index=False, lineterminator="\n"))


def _dataset(paper: str, table: str, row: str, *_: str) -> tuple[str, str, str]:
    """Return the paper, the table and the dataset of a line. The dataset is "" if the table has no key for datasets."""
    return paper, table, dict(zip(table_of(table, paper).keys, row.split(BETWEEN))).get("dataset", "")


def runs_of(tables: Iterable[Table], known: Known) -> pd.DataFrame:
    """Return our values of all seeds for each table cell that has a published number.

    ``known`` contains the tables' records.

    Raises
    ------
    XmlcError
        No cell with a published number has values of several seeds.
    """
    found = []
    for table in tables:
        for key, row in table.rows.items():
            for name, expected in table.printed.get(key, {}).items():
                if name not in row or as_float(expected.value) is None:
                    continue
                number = row[name]
                numeric = {seed: as_float(value) for seed, value in number.runs.items() if not isinstance(value, str)}
                runs = {seed: value for seed, value in numeric.items() if seed is not None and not is_missing(value)}
                if len(runs) > 1 and kind_of(name, table.definition, expected.model) in JUDGED:
                    error = split_error((known[path].record for path in number.records), name)
                    values = " ".join(f"{value:.6g}" for value in runs.values())
                    seeds, error_text = " ".join(map(str, runs)), "" if error is None else f"{error:.3g}"
                    found.append((table.paper, table.name, BETWEEN.join(key), name, seeds, values, error_text))
    if not found:
        raise XmlcError(
            "found no table cell with a published number and several seeds. "
            "Build tables with --config seeds='[0, 1, 2, 3, 4]'"
        )
    return pd.DataFrame(found, columns=COLUMNS)


def split_error(records: Iterable[RecordFile], name: str) -> float | None:
    """Return the standard error of a ranking measure over random splits, in the unit of its column.

    The result is the mean of the records' standard errors, or None if no record has a standard error. The test set is a
    random sample, without replacement, from n_train + n_test instances. The recorded standard error assumes independent
    draws, so it is multiplied by sqrt(1 - n_test / (n_train + n_test)).
    """
    found = []
    for record in records:
        if isinstance(record, RankingRecord) and name in record.standard_errors:
            n_train, n_test = record.dataset.n_train, record.dataset.n_test
            scale = 100 if column(name).unit == "%" else 1
            found.append(scale * (record.standard_errors[name] * math.sqrt(n_train / (n_train + n_test))))
    return fmean(found) if found else None
