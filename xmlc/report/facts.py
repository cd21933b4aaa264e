"""The fact table: one row for each number of the records' own frames, from which every table is a pivot.

A row says whose number it is (paper, dataset, model, variant, method, seed), what it is (metric, value, unit) and how
it came about. A number that is missing is a row too, with the reason instead of a value.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple, TypeGuard

import pandas as pd

from xmlc.core.passport import Passport, StepCosts
from xmlc.kernels.estimator import Hyperparameters
from xmlc.papers import table_of
from xmlc.papers.building import OTHER_FILES, OfTables, files_of_kinds, kinds, read_record, read_records
from xmlc.papers.tables.columns import COLUMNS, column
from xmlc.papers.tables.made_of import MadeOf
from xmlc.papers.tables.table import summaries
from xmlc.papers.tables.titles import step_title
from xmlc.records import forest
from xmlc.records.base import Row
from xmlc.records.forest import ForestRecord
from xmlc.records.ranking import RankingRecord, search_of
from xmlc.records.statistics import Statistics
from xmlc.records.step import StepRecord
from xmlc.records.sweep import SweepRecord
from xmlc.report.failures import Failure
from xmlc.suites.suite import find_suite


class RecordPassport(NamedTuple):
    """Origin of a record; ``seconds`` and ``peak_mb`` are of the whole process that wrote it."""

    portion: str
    threads: int | None
    seconds: float | None
    peak_mb: float | None
    time: str
    cpu: str
    versions: str
    hyperparameters: str
    digest: str
    record: str


MEASURED, FAILED, LEFT_OUT = "measured", "failed", "left out"
IDENTITY = ("paper", "dataset", "model", "variant", "method", "seed")
FACT_COLUMNS = (*IDENTITY, "metric", "value", "unit", "status", "reason", *RecordPassport._fields)


@dataclass(frozen=True)
class Source:
    """One record and the paper that uses it."""

    paper: str
    path: Path
    record: OfTables


def facts_of(tables: Sequence[MadeOf], failures: Iterable[Failure] = (), config: Path | None = None) -> pd.DataFrame:
    """Collect the facts behind finished tables.

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
        `FACT_COLUMNS`; ``value`` is in ``unit`` as in the tables, ``seconds`` and ``peak_mb`` are those of the whole
        process that wrote the record.

    Raises
    ------
    XmlcError
        A record does not fit.
    """
    rows = [row for source in sources_of(tables) for row in fact_rows(source)]
    seen = {(str(row["paper"]), str(row["dataset"])) for row in rows}
    for paper in dict.fromkeys(made.paper for made in tables):
        datasets = [dataset for other, dataset in seen if other == paper]
        rows += _left_out(paper, datasets, config) if config else []
    rows += [_failed(failure) for failure in failures]
    return pd.DataFrame(rows, columns=list(FACT_COLUMNS))


def sources_of(tables: Iterable[MadeOf]) -> list[Source]:
    """Read the records behind tables, each once for a paper, in the order of the tables."""
    found: dict[tuple[str, Path], Source] = {}
    for made in tables:
        needs = table_of(made.table, made.paper).needs
        files = files_of_kinds(needs, made.records)
        for need in needs:
            for path, record in _read(files[need.kind], need.kind, need.portion):
                found.setdefault((made.paper, path), Source(made.paper, path, record))
    return list(found.values())


def _read(files: Sequence[Path], kind: str, portion: str) -> list[tuple[Path, OfTables]]:
    """Read one kind of a table's records with their paths."""
    if kind in OTHER_FILES:
        found = zip(files, OTHER_FILES[kind](files) if files else [], strict=True)
        return [(path, _full_record(path, record)) for path, record in found if isinstance(record, OfTables)]
    pairs = [(path, read_records([path], kinds()[kind], portion, needed=False)) for path in files]
    return [(path, records[0]) for path, records in pairs if records]


def _full_record(path: Path, record: OfTables) -> OfTables:
    """Return the full record of an experiment, although a table looks only at the cost of its step."""
    return read_record(path) if isinstance(record, StepRecord) and record.kind in kinds() else record


def fact_rows(source: Source) -> list[Row]:
    """Return the facts of one record: a row for each number of its frames, or one row with the reason for none."""
    record = source.record
    method = step_title(record.step) if isinstance(record, StepRecord) else record.method_name or ""
    common = {"paper": source.paper, **passport_columns(source)._asdict()}
    common |= {"dataset": record.dataset_name, "model": record.model_name or "", "method": method}
    rows: list[Row] = []
    for row in rows_of(record):
        identity = {name: row.pop(name, "") for name in ("variant", "seed")}
        rows += [
            common | identity | {"metric": name, "value": float(value), "unit": _unit(name), "status": MEASURED}
            for name, value in row.items()
            if _is_number(value)
        ]
        if row.get("note"):
            rows.append(common | identity | {"status": FAILED, "reason": row["note"]})
    return rows


def rows_of(record: OfTables) -> Iterator[Row]:
    """Yield the rows of a record's frames; where several are of one record, ``variant`` says which each is."""
    module = sys.modules[type(record).__module__]
    varied = record.hyperparameter if isinstance(record, SweepRecord) else None
    if isinstance(record, ForestRecord):
        yield from _rows(forest.by_trees([record]), "n_trees")
    if hasattr(module, "frame"):
        found = search_of(record) if isinstance(record, RankingRecord) else {}
        yield from (row | found for row in _rows(module.frame([record]), varied))
    else:  # costs alone
        costs = getattr(record, "costs", None)
        yield {"seed": getattr(record, "seed", ""), **(asdict(costs) if costs else {})}
    if isinstance(record, Statistics):
        yield from _rows(summaries([record]))


def _rows(frame: pd.DataFrame, varied: str | None = None) -> Iterator[Row]:
    for row in frame.to_dict("records"):
        yield row | ({"variant": f"{varied}={row.pop(varied)}"} if varied else {})


def passport_columns(source: Source) -> RecordPassport:
    """Return how a record came about."""
    record = source.record
    about, spent = passport_of(record), step_of(record)
    packages = {name: text for name, text in about.items() if name not in ("machine", "cpu", "threads", "time")}
    settings: Hyperparameters | None = getattr(record, "hyperparameters", None)
    return RecordPassport(
        portion=getattr(record, "portion", "") or (spent and spent["portion"]) or "",
        threads=about.get("threads", spent["threads"] if spent else None),
        seconds=spent["seconds"] if spent else None,
        peak_mb=spent["peak_bytes"] * 1e-6 if spent else None,
        time=about.get("time", ""),
        cpu=about.get("cpu", spent["cpu"] if spent else ""),
        versions="; ".join(f"{name} {text}" for name, text in packages.items()),
        hyperparameters="" if settings is None else json.dumps(settings, sort_keys=True),
        digest=record.data_digest,
        record=source.path.as_posix(),
    )


def passport_of(record: OfTables) -> Passport:
    """Return the passport of a record; empty where there is none."""
    found: Passport | None = getattr(record, "passport", None)
    return found or {}


def step_of(record: OfTables) -> StepCosts | None:
    """Return the costs of the step that wrote a record, if they are known."""
    return getattr(record, "step", None)


def _is_number(value: object) -> TypeGuard[float]:
    return bool(pd.api.types.is_number(value) and not isinstance(value, bool) and not pd.isna(value))


def _unit(name: str) -> str:
    return column(name).unit if name in COLUMNS else ""


def _left_out(paper: str, datasets: Sequence[str], config: Path) -> list[Row]:
    """Say which models the configuration leaves out on the datasets of the run."""
    suite = find_suite(paper, config)
    rows: list[Row] = []
    for name, model in (suite.all_models if suite else {}).items():
        about: Row = {"paper": paper, "model": name, "variant": "", "method": "", "seed": "", "status": LEFT_OUT}
        rows += [about | {"dataset": data, "reason": why} for data, why in model.without.items() if data in datasets]
    return rows


def _failed(failure: Failure) -> Row:
    """Say which step failed; which papers need it the log does not tell."""
    return {
        "paper": "", "dataset": failure.dataset, "model": failure.model, "variant": "", "method": failure.step,
        "seed": "" if failure.seed is None else failure.seed, "status": FAILED, "reason": failure.reason,
        "portion": failure.portion, "record": failure.log.as_posix(),
    }  # fmt: skip
