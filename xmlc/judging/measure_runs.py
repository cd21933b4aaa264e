"""Finished tables taken apart by seed: the runs of ours behind each printed cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.judging.kinds import Kind, kind_of
from xmlc.judging.runs import CellRuns, Place, Runs
from xmlc.judging.verdict import number
from xmlc.papers import table_of
from xmlc.papers.building import build_table, read_published
from xmlc.records.checking import parsed
from xmlc.records.ranking import RankingRecord
from xmlc.records.reading import read_record
from xmlc.tables.columns import DEVIATION, column
from xmlc.tables.made_of import MadeOf

JUDGED = (Kind.MEASURED, Kind.QUOTED)


def runs_of(tables: Iterable[MadeOf]) -> Runs:
    """Build each table once for each seed of its records, and keep the cells that its paper prints.

    Raises
    ------
    XmlcError
        No table was made with several seeds.
    """
    cells: dict[Place, CellRuns] = {}
    for made in tables:
        printed = read_published(made.table, made.paper, made.published)
        wanted = {key: [name for name in printed.columns() if number(printed.value(key, name) or "") is not None]
                  for key in printed.rows()}  # fmt: skip
        by_seed = _by_seed(made.records) if wanted else {}  # others may be made of files that are no JSON
        if len(by_seed) < 2:
            continue
        frames = {
            seed: build_table(made.table, made.paper, records, made.published, made.suite).frame
            for seed, records in by_seed.items()
        }
        errors = _split_errors(made.records)
        cells |= _cells_of(made, frames, wanted, errors)
    if not cells:
        raise XmlcError("no printed cell was run with several seeds; make tables with --config seeds='[0, 1, 2, 3, 4]'")
    return Runs(cells)


def _by_seed(records: Sequence[Path]) -> dict[int, list[Path]]:
    """Group records by seed; those without one, as a dataset's statistics, belong to every seed."""
    found: dict[int, list[Path]] = {}
    common: list[Path] = []
    for path in records:
        content = parsed(path, "record")
        seed = content.get("seed") if isinstance(content, dict) else None
        (found.setdefault(seed, []) if isinstance(seed, int) else common).append(path)
    return {seed: [*common, *paths] for seed, paths in sorted(found.items())}


def _cells_of(
    made: MadeOf,
    frames: dict[int, pd.DataFrame],
    wanted: dict[tuple[str, ...], list[str]],
    errors: dict[tuple[str, str, str], float],
) -> dict[Place, CellRuns]:
    definition = table_of(made.table, made.paper)
    values: dict[Place, dict[int, float]] = {}
    for seed, frame in frames.items():
        for row in frame.to_dict("records"):
            key = tuple(str(row[name]) for name in definition.keys)
            model = dict(zip(definition.keys, key)).get("model")
            for name in wanted.get(key, []):
                measured = kind_of(name, definition, model) in JUDGED and not name.endswith(DEVIATION)
                if measured and isinstance(row.get(name), float) and not pd.isna(row[name]):
                    values.setdefault(Place(made.paper, made.table, key, name), {})[seed] = row[name]
    cells = {}
    for place, by_seed in values.items():
        named = dict(zip(definition.keys, place.row))
        error = errors.get((named.get("dataset", ""), named.get("model", ""), place.column))
        if len(by_seed) > 1:
            cells[place] = CellRuns(by_seed, error)
    return cells


def _split_errors(records: Sequence[Path]) -> dict[tuple[str, str, str], float]:
    """Return the split errors of rankings by dataset, model and column, in its unit: the mean over seeds."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for path in records:
        content = parsed(path, "record")
        if not isinstance(content, dict) or content.get("kind") != RankingRecord.KIND:
            continue
        record = read_record(path)
        if isinstance(record, RankingRecord) and record.portion == "full":
            for name, value in record.standard_errors.items():
                scale = 100 if column(name).unit == "%" else 1
                error = scale * split_error(value, record.dataset.n_train, record.dataset.n_test)
                found.setdefault((record.dataset.name, record.model, name), []).append(error)
    return {key: sum(values) / len(values) for key, values in found.items()}


def split_error(standard_error: float, n_train: float, n_test: float) -> float:
    """Return by how much a mean over a test set varies with the split of n_train + n_test instances.

    The test set is a random sample without replacement of instances that are given, so that the standard error of a
    mean of independent draws is multiplied by sqrt(1 - n_test / (n_train + n_test)).
    """
    return standard_error * math.sqrt(n_train / (n_train + n_test))
