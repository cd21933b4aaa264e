"""Standard deviations over seeds, measured from finished tables and kept in config/tolerances.yaml."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import yaml

from xmlc.errors import XmlcError
from xmlc.files import atomic_file
from xmlc.judging.tolerances import RUNS, load_tolerances, read_checked_tolerances
from xmlc.tables.columns import DEVIATION, column

NAMED = ("dataset", "model")
NOISE = 1e-9
DIGITS = 2
WIDTH = 100
MEASURED = "measured:\n"
HEAD = """\
# Written by `xmlc deviations` (config/README.md); do not edit. Runs, then for each column that varied the largest
# standard deviation over seeds of any row of the dataset's and model's tables: in points where the column's unit is %,
# else as a share of the mean.
"""


def deviations_over_seeds(folder: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Take the deviations from tables that were made with several seeds; those of one seed are passed over.

    Raises
    ------
    XmlcError
        No table was made with several seeds.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for file in _tables(folder):
        frame = pd.read_csv(file)
        if not {*NAMED, "seeds"} <= set(frame) or not any(name.endswith(DEVIATION) for name in frame):
            continue
        names = [name for name in frame if name + DEVIATION in frame]
        for _, row in frame[frame["seeds"] > 1].iterrows():
            entry = _entry(found, row["dataset"], row["model"], int(row["seeds"]))
            for name in names:
                _enlarge(entry, name, row[name], row[name + DEVIATION])
    if not found:
        raise XmlcError(f"{folder}: no table of several seeds; make some with --config seeds='[0, 1, 2, 3, 4]'")
    return found


def write_deviations(file: Path, found: dict[str, dict[str, dict[str, float]]]) -> None:
    """Put measured deviations into the file of tolerances, each dataset and model over what stood there.

    Parameters
    ----------
    file : Path
    found : dict
        By dataset, model and column.
    """
    measured = read_checked_tolerances(file).get("measured", {})
    for dataset, models in found.items():
        measured.setdefault(dataset, {}).update(models)
    above = file.read_text(encoding="utf-8").split(MEASURED)[0].removesuffix(HEAD)
    below = yaml.safe_dump({"measured": _sorted(measured)}, sort_keys=False, default_flow_style=None, width=WIDTH)
    with atomic_file(file) as temporary:
        temporary.write_text(above + HEAD + below, encoding="utf-8")
    load_tolerances(file)


def _tables(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise XmlcError(f"{folder}: no such folder of tables")
    yield from sorted(folder.rglob("*.csv"))


def _entry(found: dict[str, dict[str, dict[str, float]]], dataset: str, model: str, runs: int) -> dict[str, float]:
    entry = found.setdefault(dataset, {}).setdefault(model, {RUNS: runs})
    entry[RUNS] = min(entry[RUNS], runs)
    return entry


def _enlarge(entry: dict[str, float], name: str, mean: float, deviation: float) -> None:
    """Keep the larger deviation of a column, rounded up; costs, choices and constants have none."""
    definition = column(name)
    if definition.cost or definition.kind != "measure":
        return
    if definition.unit != "%":
        deviation = deviation / abs(mean) if mean else math.nan
    if deviation > NOISE:
        step = 10.0 ** (math.floor(math.log10(deviation)) + 1 - DIGITS)
        entry[name] = max(entry.get(name, 0.0), float(f"{math.ceil(deviation / step - NOISE) * step:.{DIGITS}g}"))


def _sorted(measured: dict[str, dict[str, dict[str, float]]]) -> dict[str, dict[str, dict[str, float]]]:
    return {
        dataset: {
            model: {RUNS: entry[RUNS]} | {name: entry[name] for name in sorted(entry) if name != RUNS}
            for model, entry in sorted(models.items())
        }
        for dataset, models in sorted(measured.items())
    }
