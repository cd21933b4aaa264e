"""The passports of a page: software, machine, data and settings behind the numbers of each record."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import TypedDict

from xmlc.metrics.measures import MEASURE_METHODS
from xmlc.overview.facts import Source, passport_columns
from xmlc.papers.building import OfTables
from xmlc.tables.titles import method_title, model_title, without_passes

# Columns of a table that hold a threshold method's macro-F under the method's name.
METHOD_COLUMNS = {"fta": "fta", "sto": "sto", "ofo": "ofo"}
# Costs of a record that a passport shows, with unit and factor.
SHOWN_COSTS = {
    "train_seconds": ("training", "s", 1),
    "tune_seconds": ("tuning thresholds", "s", 1),
    "inference_seconds": ("inferring", "s", 1),
    "train_peak_bytes": ("peak, training", "MB", 1e-6),
    "predict_peak_bytes": ("peak, prediction", "MB", 1e-6),
}


class ShownPassport(TypedDict):
    """A passport as the page shows it: a title, lines of name and text, and the command that makes the record again."""

    title: str
    lines: list[tuple[str, str]]
    command: str


class Passports:
    """The passports of all records behind a page, numbered in the order of their first use."""

    def __init__(self, sources: Sequence[Source]):
        self._sources: dict[str, list[Source]] = {}
        for source in sources:
            self._sources.setdefault(source.paper, []).append(source)
        self._numbers: dict[str, int] = {}
        self.shown: list[ShownPassport] = []

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
            found = [s for s in found if s.record.method_name == method] or found
        else:
            found = [s for s in found if s.record.KIND == kind]
            if kind == "thresholds":  # one number for several methods is OFO's with a and b (plt2016, Table 4)
                found = [s for s in found if s.record.method_name == "ofo-ab"] or found
        unique: dict[tuple[int | None, bool], Source] = {}
        for source in found:
            unique.setdefault((_seed(source.record), source.record.KIND != kind and method is None), source)
        return [self._number(source) for source in unique.values()]

    def _number(self, source: Source) -> int:
        path = source.path.as_posix()
        if path not in self._numbers:
            self._numbers[path] = len(self.shown)
            self.shown.append(shown_passport(source))
        return self._numbers[path]


def _concerns(record: OfTables, about: dict[str, str]) -> bool:
    """Say whether a record is of this dataset and model, where these are named."""
    model = record.model_name
    if "passes" in about and model is not None:
        model, passes = without_passes(model)
        if str(passes) != about["passes"]:
            return False
    return about.get("dataset") in (None, record.dataset_name) and about.get("model") in (None, model)


def _seed(record: OfTables) -> int | None:
    return getattr(record, "seed", None)


def shown_passport(source: Source) -> ShownPassport:
    """Return a passport as the page shows it."""
    record, about = source.record, passport_columns(source)
    title = [model_title(record.model_name)] if record.model_name else []
    title += [method_title(record.method_name)] if record.method_name else []
    seed, spent, peak = _seed(record), about.seconds, about.peak_mb
    lines = [
        ("dataset", f"{record.dataset_name} (digest {about.digest[:12]})" if about.digest else ""),
        ("seed", "" if seed is None else str(seed)),
        ("trained on", {"full": "the whole training set", "80": "80 % of it"}.get(about.portion, "")),
        ("hyperparameters", _settings(about.hyperparameters)),
        *_costs(record),
        ("threads", "" if about.threads is None else str(about.threads)),
        ("this step", "" if spent is None else f"{spent:.4g} s, whole process"),
        ("its peak memory", "" if peak is None else f"{peak:.4g} MB"),
        ("machine", about.cpu),
        ("versions", about.versions),
        ("made", about.time),
        ("record", about.record),
    ]
    return ShownPassport(
        title=", ".join(title) or record.dataset_name,
        lines=[line for line in lines if line[1]],
        command=f"snakemake --cores {about.threads or 1} --force {shlex.quote(about.record)}",
    )


def _costs(record: OfTables) -> list[tuple[str, str]]:
    """Return lines of `SHOWN_COSTS`, of those costs that a record has."""
    costs = getattr(record, "costs", None) or {}
    found = costs if isinstance(costs, dict) else asdict(costs)
    return [
        (name, f"{found[key] * factor:.4g} {unit}")
        for key, (name, unit, factor) in SHOWN_COSTS.items()
        if found.get(key) is not None
    ]


def _settings(text: str) -> str:
    settings = json.loads(text) if text else {}
    return ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)
