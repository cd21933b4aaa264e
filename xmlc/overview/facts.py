"""The fact table: one row for each number that was measured, from which every table is a pivot.

A row says whose number it is (paper, dataset, model, variant, method, seed), what it is (metric, value, unit) and how
it came about. A number that is missing is a row too, with the reason instead of a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import singledispatch
from pathlib import Path
from typing import TypeGuard

import pandas as pd

from xmlc.estimator import Hyperparameters
from xmlc.overview.failures import Failure
from xmlc.papers import table_of
from xmlc.papers.building import OTHER_FILES, OfTables, files_of_kinds
from xmlc.papers.scale.steps import step_title
from xmlc.passport import Passport, StepCosts
from xmlc.records import condensed, forest, inference, ranking, statistics, step, thresholds
from xmlc.records.base import ExperimentRecord, Row
from xmlc.records.condensed import CondensedRecord
from xmlc.records.forest import ForestRecord
from xmlc.records.inference import InferenceRecord
from xmlc.records.ranking import RankingRecord
from xmlc.records.reading import kinds, read_record, read_records
from xmlc.records.statistics import Statistics
from xmlc.records.step import StepRecord
from xmlc.records.sweep import SweepRecord
from xmlc.records.thresholds import ThresholdRecord
from xmlc.suites.reading import find_suite
from xmlc.tables.columns import COLUMNS, column
from xmlc.tables.provenance import TableProvenance
from xmlc.tables.summaries import COUNTED, NUMBERS

MEASURED, FAILED, LEFT_OUT = "measured", "failed", "left out"
IDENTITY = ("paper", "dataset", "model", "variant", "method", "seed")
PROVENANCE = (
    "portion", "threads", "seconds", "peak_mb", "time", "cpu", "versions", "hyperparameters", "digest", "record",
)  # fmt: skip
FACT_COLUMNS = (*IDENTITY, "metric", "value", "unit", "status", "reason", *PROVENANCE)
_KEYS = {*IDENTITY, "note"}


@dataclass(frozen=True)
class Source:
    """One record and the paper that uses it."""

    paper: str
    path: Path
    record: OfTables


def facts_of(
    tables: Sequence[TableProvenance], failures: Iterable[Failure] = (), config: Path | None = None
) -> pd.DataFrame:
    """Collect the facts behind finished tables.

    Parameters
    ----------
    tables : sequence of TableProvenance
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


def sources_of(tables: Iterable[TableProvenance]) -> list[Source]:
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
        return [(path, _itself(path, record)) for path, record in found if isinstance(record, OfTables)]
    pairs = [(path, read_records([path], kinds()[kind], portion, needed=False)) for path in files]
    return [(path, records[0]) for path, records in pairs if records]


def _itself(path: Path, record: OfTables) -> OfTables:
    """Return the record of an experiment as what it is, although a table looks only at what its step cost."""
    return read_record(path) if isinstance(record, StepRecord) and record.kind in kinds() else record


def fact_rows(source: Source) -> list[Row]:
    """Return the facts of one record: a row for each number in it, or one that says why there is none."""
    common = {"paper": source.paper, **asdict(provenance(source))}
    rows: list[Row] = []
    for part in parts_of(source.record):
        identity = {name: part.get(name, "") for name in IDENTITY if name != "paper"}
        rows += [
            common | identity | {"metric": name, "value": float(value), "unit": _unit(name), "status": MEASURED}
            for name, value in part.items()
            if name not in _KEYS and _is_number(value)
        ]
        if part.get("note"):
            rows.append(common | identity | {"status": FAILED, "reason": part["note"]})
    return rows


@dataclass(frozen=True)
class Provenance:
    """How a record came about: the columns `PROVENANCE`."""

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


def provenance(source: Source) -> Provenance:
    """Return how a record came about."""
    record = source.record
    about, spent = passport_of(record), step_of(record)
    packages = {name: text for name, text in about.items() if name not in ("machine", "cpu", "threads", "time")}
    settings: Hyperparameters | None = getattr(record, "hyperparameters", None)
    return Provenance(
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
    """Return what the step cost that wrote a record, if it is known."""
    return getattr(record, "step", None)


@singledispatch
def parts_of(record: object) -> list[Row]:
    """Return the numbers of a record, a variant at a time; of a kind that nothing more is known of, metrics and costs.

    Metrics are in percent, costs as they are.
    """
    assert isinstance(record, ExperimentRecord)
    metrics, costs = getattr(record, "metrics", None) or {}, getattr(record, "costs", None)
    shares = {name: 100 * value for name, value in metrics.items() if _is_number(value)}
    spent = {name: value for name, value in asdict(costs).items() if _is_number(value)} if costs else {}
    return [_identity(record) | {"method": record.method_name or ""} | spent | shares]


@parts_of.register
def _ranking(record: RankingRecord) -> list[Row]:
    search = record.tuning or {}
    found = {"validation_p@1": 100 * search["p@1"], "trials": search.get("budget")} if "p@1" in search else {}
    return [_first(ranking.frame([record])) | found]


@parts_of.register
def _thresholds(record: ThresholdRecord) -> list[Row]:
    return [_first(thresholds.frame([record]))]


@parts_of.register
def _inference(record: InferenceRecord) -> list[Row]:
    return [_first(inference.frame([record]))]


@parts_of.register
def _condensed(record: CondensedRecord) -> list[Row]:
    rows = condensed.frame([record]).to_dict("records")
    return [row | {"variant": f"similarity={row.pop('similarity')}"} for row in rows]


@parts_of.register
def _forest(record: ForestRecord) -> list[Row]:
    rows = [
        _identity(record) | {"variant": f"n_trees={row.n_trees}"} | _percent(row.metrics)
        | {"predict_ms": row.predict_ms_per_instance}
        for row in record.rows
    ]  # fmt: skip
    return rows + ([_first(forest.frame([record]))] if record.trees else [])


@parts_of.register
def _sweep(record: SweepRecord) -> list[Row]:
    return [
        _identity(record) | {"variant": f"{record.hyperparameter}={row.value}"} | _percent(row.metrics)
        | {"depth": row.depth, "nodes": row.nodes, "train_seconds": row.train_seconds}
        | {"predict_ms": row.predict_ms_per_instance}
        for row in record.rows
    ]  # fmt: skip


@parts_of.register
def _statistics(record: Statistics) -> list[Row]:
    """Return sizes and averages of a dataset, and its five-number summaries as variants."""
    parts = [_first(statistics.frame([record]))]
    for counted in COUNTED:
        summary = record.train.summary(counted)
        numbers = {title: getattr(summary, key) for title, key in NUMBERS.items()}
        parts.append({"dataset": record.name, "variant": counted} | numbers)
    return parts


@parts_of.register
def _step(record: StepRecord) -> list[Row]:
    row = _first(step.frame([record]))
    return [row | {"model": record.model_name or "", "method": step_title(record.step)}]


def _identity(record: ExperimentRecord) -> Row:
    return {"dataset": record.dataset.name, "model": record.model, "seed": record.seed}


def _percent(metrics: Mapping[str, float]) -> Row:
    return {name: 100 * value for name, value in metrics.items()}


def _first(frame: pd.DataFrame) -> Row:
    row: Row = frame.iloc[0].to_dict()
    return row


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
