"""Records: the JSON files of `xmlc rank`, `xmlc evaluate` and `xmlc infer`, checked and brought into one frame."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd

from xmlc.errors import XmlcError
from xmlc.metrics.measures import (
    BY_NAME,
    FURTHER_RANKING_METRICS,
    FURTHER_SET_METRICS,
    MAXIMA,
    RANKING_METRICS,
    SET_METRICS,
    TUNABLE_MEASURES,
)
from xmlc.records.schema_parts import FOREST, FRACTION, NUMBER, PROGRESSIVE, SWEEP, TEXT, object_of

DATASET_COLUMNS = ("m", "d", "n_test", "n_train", "instances_per_label", "labels_per_instance")

# Column: key of the record's costs, and the factor from its unit to the column's.
RANKING_COSTS = {
    "train_minutes": ("train_seconds", 1 / 60),
    "train_seconds": ("train_seconds", 1),
    "predict_ms": ("predict_ms_per_instance", 1),
    "inner_products": ("inner_products_per_instance", 1),
    "model_mb": ("model_bytes", 1e-6),
    "train_peak_mb": ("train_peak_bytes", 1e-6),
    "predict_peak_mb": ("predict_peak_bytes", 1e-6),
    "train_threads": ("train_threads", 1),
    "predict_threads": ("predict_threads", 1),
}
# Records of earlier versions lack these.
CPU_COSTS = {"train_cpu_minutes": ("train_cpu_seconds", 1 / 60), "train_cpu_seconds": ("train_cpu_seconds", 1)}
THRESHOLD_COSTS = {
    "test_ms": ("test_ms_per_instance", 1),
    "inner_products": ("test_inner_products_per_instance", 1),
    "tune_seconds": ("tune_seconds", 1),
    "test_threads": ("threads", 1),
}
INFERENCE_COSTS = {
    "inference_seconds": ("inference_seconds", 1),
    "draw_ms": ("draw_ms_per_instance", 1),
    "estimate_ms": ("estimate_ms_per_instance", 1),
    "infer_ms": ("infer_ms_per_instance", 1),
    "inference_threads": ("threads", 1),
}
# What an inference record says of estimates with a floor, or nothing of all this.
ESTIMATES = ("floor", "estimates_per_instance", "missed_per_instance")

_RANKINGS = object_of({name: FRACTION for name in RANKING_METRICS})
_SETS = object_of({name: FRACTION for name in SET_METRICS} | {"predicted_per_instance": {"type": "number"}})
for _schema, _names in (
    (_RANKINGS, MAXIMA + FURTHER_RANKING_METRICS),
    (_SETS, TUNABLE_MEASURES + FURTHER_SET_METRICS),
):
    _schema["properties"] |= {name: FRACTION if BY_NAME[name].is_share else {"type": "number"} for name in _names}
_MACRO_F = object_of({"macro_f": FRACTION})
_CHOICE = {name: NUMBER for name in ("c", "a", "b")}
_DATASET = object_of({"name": TEXT, "digest": TEXT} | {name: {"type": "number"} for name in DATASET_COLUMNS})
_COMMON = {
    "kind": {"enum": ["ranking", "thresholds", "inference", "condensed", "forest", "sweep", "progressive"]},
    "schema": {"const": 1},
    "dataset": _DATASET,
    "model": TEXT,
    "hyperparameters": {"type": "object"},
    "seed": {"type": "integer"},
    "portion": {"enum": ["full", "80"]},
    "costs": {"type": "object"},
}
SCHEMAS = {
    "ranking": object_of(
        _COMMON
        | {
            "metrics": _RANKINGS,
            "costs": object_of({key: NUMBER for key, _ in RANKING_COSTS.values()}),
        }
    ),
    "thresholds": object_of(
        _COMMON
        | {
            "method": TEXT,
            "grid": {"type": "array", "items": object_of(_CHOICE | {"validation": _MACRO_F, "test": _MACRO_F})},
            "best": object_of(_CHOICE | {"validation": _MACRO_F, "test": _SETS}),
            "costs": object_of({key: NUMBER for key, _ in THRESHOLD_COSTS.values()}),
        }
    ),
    "condensed": object_of(
        _COMMON
        | {
            "rows": {
                "type": "array",
                "minItems": 1,
                "items": object_of(
                    dict.fromkeys(("similarity", "instances", "index_bytes", "predict_ms_per_instance"), NUMBER)
                    | {"metrics": object_of(dict.fromkeys(("p@1", "p@3", "p@5"), FRACTION))}
                ),
            }
        }
    ),
    "forest": object_of(_COMMON | FOREST),
    "sweep": object_of(_COMMON | SWEEP),
    "progressive": object_of(_COMMON | PROGRESSIVE),
    "inference": object_of(
        _COMMON
        | {
            "method": TEXT,
            "finished": {"type": "boolean"},
            "time_limit": NUMBER,
            "samples": NUMBER,
            "expected_f": NUMBER,
            "floor_loss": NUMBER,
            "metrics": {"anyOf": [_SETS, {"type": "null"}]},
            "estimates": {"anyOf": [object_of(dict.fromkeys(ESTIMATES, NUMBER)), {"type": "null"}]},
            "costs": object_of({key: NUMBER for key, _ in INFERENCE_COSTS.values()}),
        }
    ),
}


@cache
def _validator(kind: str | None) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(SCHEMAS.get(kind or "", object_of(_COMMON)))


def read_records(paths: Iterable[Path], kind: str, portion: str, needed: bool = True) -> list[dict[str, Any]]:
    """Read and check records; those of another kind or portion are left out.

    Parameters
    ----------
    paths : iterable of Path
    kind : str
        A key of `SCHEMAS`.
    portion : {"full", "80"}
        What the models were trained on.
    needed : bool
        Whether none of this kind is an error.

    Returns
    -------
    list of dict
        In the order of the files: it is the order of rows in tables and of panels in figures.

    Raises
    ------
    XmlcError
        A file is no record, lacks something or contradicts another; or one of this kind is needed and there is none.
    """
    paths = list(paths)
    found: dict[tuple[Any, ...], Path] = {}
    records = []
    for path in paths:
        record = _read(path)
        if record["kind"] != kind or record["portion"] != portion:
            continue
        identity = (record["dataset"]["name"], record["model"], record.get("method"), record["seed"])
        if identity in found:
            raise XmlcError(
                f"{path}: a second record of {_named(identity)}; the first is {found[identity]}. Give each record once"
            )
        found[identity] = path
        records.append(record)
    if needed and not records:
        raise XmlcError(
            f"no record of kind {kind!r}, portion {portion!r}, among {len(paths)} files; "
            "expected files that `xmlc rank`, `xmlc evaluate` or `xmlc infer` wrote"
        )
    _check_one_story(records, list(found.values()))
    return records


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except (OSError, ValueError) as error:
        raise XmlcError(f"{path}: not a readable JSON record ({error}); make it again") from error
    kind = record.get("kind") if isinstance(record, dict) else None
    problem = jsonschema.exceptions.best_match(_validator(kind if isinstance(kind, str) else None).iter_errors(record))
    if problem is not None:
        raise XmlcError(
            f"{path}: {problem.json_path}: {problem.message}; expected a record of `xmlc rank`, `xmlc evaluate` or "
            "`xmlc infer` of this version: delete it and make it again"
        )
    return record


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a number of JSON")


def _check_one_story(records: Sequence[dict[str, Any]], paths: Sequence[Path]) -> None:
    """Refuse records that must not stand in one table: other data under one name, other settings over seeds."""
    data: dict[str, tuple[Any, Path]] = {}
    settings: dict[tuple[str, str], tuple[Any, Path]] = {}
    for record, path in zip(records, paths, strict=True):
        block, model = record["dataset"], record["model"]
        first, where = data.setdefault(block["name"], (block["digest"], path))
        if first != block["digest"]:
            raise XmlcError(
                f"{path}: dataset {block['name']!r} has digest {block['digest'][:12]}, but {first[:12]} in {where}; "
                "the two were made from different data: make the older again"
            )
        first, where = settings.setdefault((block["name"], model), (record["hyperparameters"], path))
        if first != record["hyperparameters"]:
            raise XmlcError(
                f"{path}: hyperparameters of {model} on {block['name']} differ from those in {where}; "
                "one row of a table has one setting: make the older again"
            )


def _named(identity: tuple[Any, ...]) -> str:
    dataset, model, method, seed = identity
    return f"{dataset}, {model}{f', {method}' if method else ''}, seed {seed}"


def ranking_frame(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return one row for each ranking record: keys, seed, dataset, metrics in percent, costs in the columns' units."""
    further = _given(FURTHER_RANKING_METRICS, [record["metrics"] for record in records])
    return pd.DataFrame(
        [
            _identity(record)
            | _metrics(record["metrics"], (*RANKING_METRICS, *MAXIMA, *further))
            | _costs(record, RANKING_COSTS)
            | _costs(record, CPU_COSTS)
            for record in records
        ]
    )


def threshold_frame(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return one row for each threshold record: keys, seed, dataset, test metrics in percent, choice, costs."""
    further = _given(FURTHER_SET_METRICS, [record["best"]["test"] for record in records])
    return pd.DataFrame(
        [
            _identity(record)
            | {"method": record["method"]}
            | _metrics(record["best"]["test"], (*dict.fromkeys(SET_METRICS + TUNABLE_MEASURES), *further))
            | {"predicted_per_instance": record["best"]["test"]["predicted_per_instance"]}
            | {"validation_macro_f": 100 * record["best"]["validation"]["macro_f"]}
            | {name: _number(record["best"][name]) for name in _CHOICE}
            | _costs(record, THRESHOLD_COSTS)
            for record in records
        ]
    )


def inference_frame(records: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return one row for each inference record: keys, seed, dataset, test metrics in percent, estimates, costs.

    Metrics are missing where the clock ran out; so is what only estimates with a floor have.
    """
    further = _given(FURTHER_SET_METRICS, [record["metrics"] for record in records])
    return pd.DataFrame(
        [
            _identity(record)
            | {"method": record["method"]}
            | _metrics(record["metrics"], (*SET_METRICS, *further, "predicted_per_instance"))
            | {name: 100 * _number(record[name]) for name in ("expected_f", "floor_loss")}
            | {name: _number(_of(record["estimates"], name)) for name in ESTIMATES}
            | _costs(record, INFERENCE_COSTS)
            | {"note": None if record["finished"] else f"stopped after {record['time_limit']:g} s"}
            for record in records
        ]
    )


def _given(names: Sequence[str], parts: Sequence[Mapping[str, float] | None]) -> list[str]:
    """Choose the measures that any record has: those that were added since are no columns of earlier records."""
    return [name for name in names if any(name in part for part in parts if part)]


def _metrics(part: Mapping[str, float] | None, names: Iterable[str]) -> dict[str, float]:
    """Return measures in the columns' units; missing where a record lacks them."""
    return {name: BY_NAME[name].in_unit(_number((part or {}).get(name))) for name in names}


def _of(part: dict[str, Any] | None, name: str) -> float | None:
    return None if part is None else part[name]


def _identity(record: dict[str, Any]) -> dict[str, Any]:
    block = record["dataset"]
    stated = {name: block[name] for name in DATASET_COLUMNS}
    return {"dataset": block["name"], "model": record["model"], "seed": record["seed"], **stated}


def _costs(record: dict[str, Any], wanted: Mapping[str, tuple[str, float]]) -> dict[str, float]:
    return {name: _number(record["costs"].get(key)) * factor for name, (key, factor) in wanted.items()}


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
