"""The fact table: one row for each number that was measured, from which every table is a pivot.

A row says whose number it is (paper, dataset, model, variant, method, seed), what it is (metric, value, unit) and how
it came about. What was not measured although it was asked for is a row too, with the reason instead of a value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from xmlc.overview.failed import Failure
from xmlc.papers import table_of
from xmlc.papers.building import OTHER_FILES
from xmlc.papers.ldsm2020.tables import tree_shape
from xmlc.papers.scale.steps import step_row
from xmlc.papers.swnn2018.condensed import condensed_rows
from xmlc.records.reading import (
    inference_frame,
    ranking_frame,
    read_records,
    threshold_frame,
)
from xmlc.suites.reading import find_suite
from xmlc.tables.columns import COLUMNS, column
from xmlc.tables.made_of import MadeOf
from xmlc.tables.summaries import AVERAGES, COUNTED, NUMBERS

Record = dict[str, Any]

MEASURED, FAILED, LEFT_OUT = "measured", "failed", "left out"
IDENTITY = ("paper", "dataset", "model", "variant", "method", "seed")
PROVENANCE = (
    "portion", "threads", "seconds", "peak_mb", "time", "cpu", "versions", "hyperparameters", "digest", "record",
)  # fmt: skip
FACT_COLUMNS = (*IDENTITY, "metric", "value", "unit", "status", "reason", *PROVENANCE)
_KEYS = {*IDENTITY, "note"}


@dataclass(frozen=True)
class Source:
    """One record and the paper that asks for it."""

    paper: str
    path: Path
    record: Record


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
    seen = {(row["paper"], row["dataset"]) for row in rows}
    for paper in dict.fromkeys(made.paper for made in tables):
        datasets = [dataset for other, dataset in seen if other == paper]
        rows += _left_out(paper, datasets, config) if config else []
    rows += [_failed(failure) for failure in failures]
    return pd.DataFrame(rows, columns=list(FACT_COLUMNS))


def sources_of(tables: Iterable[MadeOf]) -> list[Source]:
    """Read the records behind tables, each once for a paper, in the order of the tables."""
    found: dict[tuple[str, Path], Source] = {}
    for made in tables:
        for need in table_of(made.table, made.paper).needs:
            for path, record in _read(made, need.kind, need.portion):
                found.setdefault((made.paper, path), Source(made.paper, path, record))
    return list(found.values())


def _read(made: MadeOf, kind: str, portion: str) -> list[tuple[Path, Record]]:
    """Read one kind of a table's records with their paths."""
    if kind in OTHER_FILES:
        content = OTHER_FILES[kind](made.records)
        return [(path, {"kind": kind, **record}) for path, record in zip(made.records, content, strict=True)]
    pairs = [(path, read_records([path], kind, portion, needed=False)) for path in made.records]
    return [(path, records[0]) for path, records in pairs if records]


def fact_rows(source: Source) -> list[dict[str, Any]]:
    """Return the facts of one record: a row for each number in it, or one that says why there is none."""
    record = source.record
    common = {"paper": source.paper, **provenance(source)}
    rows = []
    for part in CONTENTS.get(record["kind"], _numbers_of_metrics)(record):
        identity = {name: part.get(name, "") for name in IDENTITY if name != "paper"}
        rows += [
            common | identity | {"metric": name, "value": float(value), "unit": _unit(name), "status": MEASURED}
            for name, value in part.items()
            if name not in _KEYS and _is_number(value)
        ]
        if part.get("note"):
            rows.append(common | identity | {"status": FAILED, "reason": part["note"]})
    return rows


def provenance(source: Source) -> dict[str, Any]:
    """Return how a record came about, in the columns `PROVENANCE`."""
    record = source.record
    about, step = record.get("passport") or {}, record.get("step") or {}
    packages = {name: text for name, text in about.items() if name not in ("machine", "cpu", "threads", "time")}
    data = record.get("dataset", record)
    peak = step.get("peak_bytes")
    return {
        "portion": record.get("portion") or step.get("portion") or "",
        "threads": about.get("threads", step.get("threads")),
        "seconds": step.get("seconds"),
        "peak_mb": None if peak is None else peak * 1e-6,
        "time": about.get("time", ""),
        "cpu": about.get("cpu", step.get("cpu", "")),
        "versions": "; ".join(f"{name} {text}" for name, text in packages.items()),
        "hyperparameters": json.dumps(record["hyperparameters"], sort_keys=True) if "hyperparameters" in record else "",
        "digest": data.get("digest", "") if isinstance(data, dict) else "",
        "record": source.path.as_posix(),
    }


def _ranking(record: Record) -> list[Record]:
    search = record.get("tuning") or {}
    found = {"validation_p@1": 100 * search["p@1"], "trials": search.get("budget")} if "p@1" in search else {}
    return [ranking_frame([record]).iloc[0].to_dict() | found]


def _condensed(record: Record) -> list[Record]:
    return [row | {"variant": f"similarity={row.pop('similarity')}"} for row in condensed_rows(record)]


def _forest(record: Record) -> list[Record]:
    rows = _rows_of_metrics(record, "n_trees")
    return rows + ([_identity(record) | tree_shape(record)] if record["trees"] else [])


def _sweep(record: Record) -> list[Record]:
    return _rows_of_metrics(record, record["hyperparameter"])


def _rows_of_metrics(record: Record, varied: str) -> list[Record]:
    """Return one part for each value of what is varied; shares become percent, other numbers stay."""
    parts = []
    for row in record["rows"]:
        others = {name: value for name, value in row.items() if name not in ("metrics", varied)}
        others = {name.replace("_ms_per_instance", "_ms"): value for name, value in others.items()}
        shares = {name: 100 * value for name, value in row["metrics"].items()}
        parts.append(_identity(record) | {"variant": f"{varied}={row[varied]}"} | shares | others)
    return parts


def _numbers_of_metrics(record: Record) -> list[Record]:
    """Return the metrics of a kind that nothing more is known of, in percent, and its costs as they are."""
    shares = {name: 100 * value for name, value in (record.get("metrics") or {}).items() if _is_number(value)}
    costs = {name: value for name, value in (record.get("costs") or {}).items() if _is_number(value)}
    return [_identity(record) | {"method": record.get("method", "")} | costs | shares]


def _identity(record: Record) -> Record:
    return {"dataset": record["dataset"]["name"], "model": record["model"], "seed": record["seed"]}


def _statistics(record: Record) -> list[Record]:
    """Return sizes and averages of a dataset, and its five-number summaries as variants."""
    train, name = record["train"], record["name"]
    sizes = {"d": record["d"], "m": record["m"], "n_train": train["instances"], "n_test": record["test"]["instances"]}
    parts = [{"dataset": name} | sizes | {average: train[average]["mean"] for average in AVERAGES}]
    for counted in COUNTED:
        numbers = {title: train[counted][key] for title, key in NUMBERS.items()}
        parts.append({"dataset": name, "variant": counted} | numbers)
    return parts


def _step(record: Record) -> list[Record]:
    row = step_row(record)
    return [row | {"model": record["step"]["model"] or "", "method": row.pop("step")}]


CONTENTS: dict[str, Callable[[Record], list[Record]]] = {
    "ranking": _ranking,
    "thresholds": lambda record: [threshold_frame([record]).iloc[0].to_dict()],
    "inference": lambda record: [inference_frame([record]).iloc[0].to_dict()],
    "condensed": _condensed,
    "forest": _forest,
    "sweep": _sweep,
    "statistics": _statistics,
    "step": _step,
}


def _is_number(value: object) -> bool:
    return pd.api.types.is_number(value) and not isinstance(value, bool) and not pd.isna(value)


def _unit(name: str) -> str:
    return column(name).unit if name in COLUMNS else ""


def _left_out(paper: str, datasets: Sequence[str], config: Path) -> list[dict[str, Any]]:
    """Say which models the configuration leaves out on the datasets of the run."""
    suite = find_suite(paper, config)
    return [
        {"paper": paper, "dataset": dataset, "model": name, "variant": "", "method": "", "seed": ""}
        | {"status": LEFT_OUT, "reason": reason}
        for name, model in (suite.all_models if suite else {}).items()
        for dataset, reason in model.without.items()
        if dataset in datasets
    ]


def _failed(failure: Failure) -> dict[str, Any]:
    """Say which step failed; which papers need it the log does not tell."""
    return {
        "paper": "", "dataset": failure.dataset, "model": failure.model, "variant": "", "method": failure.step,
        "seed": "" if failure.seed is None else failure.seed, "status": FAILED, "reason": failure.reason,
        "portion": failure.portion, "record": failure.log.as_posix(),
    }  # fmt: skip
