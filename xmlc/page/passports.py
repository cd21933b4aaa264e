"""The passports of a page: for each record with what, on what and how its numbers were measured."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from typing import Any

from xmlc.metrics.measures import MEASURE_METHODS
from xmlc.overview.facts import Source, provenance
from xmlc.tables.titles import method_title, model_title, without_passes

# Columns of a table that hold a threshold method's macro-F under the method's name.
METHOD_COLUMNS = {"fta": "fta", "sto": "sto", "ofo": "ofo"}
# Costs of a record that are told, with unit and factor.
TOLD = {
    "train_seconds": ("training", "s", 1),
    "tune_seconds": ("tuning thresholds", "s", 1),
    "inference_seconds": ("inferring", "s", 1),
    "train_peak_bytes": ("peak, training", "MB", 1e-6),
    "predict_peak_bytes": ("peak, prediction", "MB", 1e-6),
}


class Passports:
    """Every record that a page tells of, numbered as it is first asked for."""

    def __init__(self, sources: Sequence[Source]):
        self._sources: dict[str, list[Source]] = {}
        for source in sources:
            self._sources.setdefault(source.paper, []).append(source)
        self._numbers: dict[str, int] = {}
        self.told: list[dict[str, Any]] = []

    def behind(self, paper: str, kind: str, about: dict[str, str], name: str) -> list[int]:
        """Return the numbers of the records behind one cell, one for each seed.

        Parameters
        ----------
        paper : str
        kind : str
            Of the records that the table is made from.
        about : dict of str to str
            The keys that name the cell.
        name : str
            Its column.
        """
        found = [s for s in self._sources.get(paper, ()) if _concerns(s.record, about)]
        method = about.get("method") or METHOD_COLUMNS.get(name)
        if method is None and "tuned_for" in about:
            method = next((m for m, measure in MEASURE_METHODS.items() if measure == about["tuned_for"]), None)
        if method is not None:
            found = [s for s in found if s.record.get("method") == method] or found
        else:
            found = [s for s in found if s.record["kind"] == kind]
            if kind == "thresholds":  # one number for several methods is OFO's with a and b (plt2016, Table 4)
                found = [s for s in found if s.record["method"] == "ofo-ab"] or found
        unique: dict[Any, Source] = {}
        for source in found:
            unique.setdefault((source.record.get("seed"), source.record["kind"] != kind and method is None), source)
        return [self._number(source) for source in unique.values()]

    def _number(self, source: Source) -> int:
        path = source.path.as_posix()
        if path not in self._numbers:
            self._numbers[path] = len(self.told)
            self.told.append(told(source))
        return self._numbers[path]


def _concerns(record: dict[str, Any], about: dict[str, str]) -> bool:
    """Say whether a record is of this dataset and model, where these are named."""
    data, step = record.get("dataset", record.get("name")), record.get("step") or {}
    data = data["name"] if isinstance(data, dict) else data if record["kind"] == "statistics" else step.get("dataset")
    model = record.get("model", step.get("model"))
    if "passes" in about and model is not None:
        model, passes = without_passes(model)
        if str(passes) != about["passes"]:
            return False
    return about.get("dataset") in (None, data) and about.get("model") in (None, model)


def told(source: Source) -> dict[str, Any]:
    """Return a passport as the page shows it: a title, lines of name and text, and the command that makes it again."""
    record, about = source.record, provenance(source)
    costs = record.get("costs") or {}
    title = [model_title(record["model"])] if record.get("model") else []
    title += [method_title(record["method"])] if record.get("method") else []
    data = record["dataset"] if isinstance(record.get("dataset"), dict) else record
    lines = [("dataset", f"{data.get('name', '')} (digest {str(about['digest'])[:12]})" if about["digest"] else "")]
    lines.append(("seed", str(record["seed"]) if "seed" in record else ""))
    lines.append(("trained on", {"full": "the whole training set", "80": "80 % of it"}.get(about["portion"], "")))
    lines.append(("hyperparameters", _settings(about["hyperparameters"])))
    lines += [
        (name, f"{costs[key] * factor:.4g} {unit}")
        for key, (name, unit, factor) in TOLD.items()
        if costs.get(key) is not None
    ]
    lines.append(("threads", "" if about["threads"] is None else str(about["threads"])))
    lines.append(("this step", "" if about["seconds"] is None else f"{about['seconds']:.4g} s, process and all"))
    lines.append(("its peak memory", "" if about["peak_mb"] is None else f"{about['peak_mb']:.4g} MB"))
    lines += [("machine", about["cpu"]), ("versions", about["versions"]), ("made", about["time"])]
    lines.append(("record", about["record"]))
    cores = about["threads"] or 1
    return {
        "title": ", ".join(title) or str(data.get("name", "")),
        "lines": [line for line in lines if line[1]],
        "command": f"snakemake --cores {cores} --force {shlex.quote(about['record'])}",
    }


def _settings(text: str) -> str:
    settings = json.loads(text) if text else {}
    return ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)
