"""Many records read together; mixed kinds, portions and contradictory data are refused."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import xmlc.records
from xmlc.core.errors import XmlcError
from xmlc.records.base import ExperimentRecord, check_header, parsed

R = TypeVar("R", bound=ExperimentRecord)
Identity = tuple[str, str, str | None, int]


def read_records(paths: Iterable[Path], kind: type[R], portion: str, needed: bool = True) -> list[R]:
    """Read and check records; other kinds and portions are left out.

    Parameters
    ----------
    paths : iterable of Path
    kind : type of ExperimentRecord
    portion : {"full", "80"}
        What the models were trained on.
    needed : bool
        Whether none of this kind is an error.

    Returns
    -------
    list of ExperimentRecord
        In the order of the files: it is the order of rows in tables and of panels in figures.

    Raises
    ------
    XmlcError
        A file is no record, lacks something or contradicts another; or one of this kind is needed and there is none.
    """
    paths = list(paths)
    found: dict[Identity, Path] = {}
    records = []
    for path in paths:
        record = read_record(path)
        if not isinstance(record, kind) or record.portion != portion:
            continue
        identity = (record.dataset.name, record.model, record.method_name, record.seed)
        if identity in found:
            raise XmlcError(
                f"{path}: a second record of {_named(identity)}; the first is {found[identity]}. Give each record once"
            )
        found[identity] = path
        records.append(record)
    if needed and not records:
        raise XmlcError(
            f"no record of kind {kind.KIND!r}, portion {portion!r}, among {len(paths)} files; "
            f"expected files that {f'`xmlc {kind.COMMAND}`' if kind.COMMAND else 'your script'} wrote"
        )
    _check_one_story(records, list(found.values()))
    return records


def read_record(path: Path) -> ExperimentRecord:
    """Read one record of any of the `kinds`.

    Raises
    ------
    XmlcError
        It is not readable, of no kind, or lacks something.
    """
    content = parsed(path, "record")
    kind = check_header(path, content, kinds(), "rank`, `xmlc thresholds` or `xmlc infer")
    return kinds()[kind].of(path, content)


@cache
def kinds() -> dict[str, type[ExperimentRecord]]:
    """Return the classes of records of experiments in the modules of this room, by kind in alphabetical order."""
    names = [f"{xmlc.records.__name__}.{found.name}" for found in pkgutil.iter_modules(xmlc.records.__path__)]
    parts = [part for name in names for part in vars(importlib.import_module(name)).values()]
    classes = [part for part in parts if isinstance(part, type)]
    return {one.KIND: one for one in classes if issubclass(one, ExperimentRecord) and one.KIND}


def _check_one_story(records: Sequence[ExperimentRecord], paths: Sequence[Path]) -> None:
    """Refuse records that must not stand in one table: other data under one name, other settings over seeds."""
    data: dict[str, tuple[str, Path]] = {}
    settings: dict[tuple[str, str], tuple[object, Path]] = {}
    for record, path in zip(records, paths, strict=True):
        name, digest = record.dataset.name, record.dataset.digest
        first, where = data.setdefault(name, (digest, path))
        if first != digest:
            raise XmlcError(
                f"{path}: dataset {name!r} has digest {digest[:12]}, but {first[:12]} in {where}; "
                "the two were made from different data: make the older again"
            )
        setting, where = settings.setdefault((name, record.model), (record.hyperparameters, path))
        if setting != record.hyperparameters:
            raise XmlcError(
                f"{path}: hyperparameters of {record.model} on {name} differ from those in {where}; "
                "one row of a table has one setting: make the older again"
            )


def _named(identity: Identity) -> str:
    dataset, model, method, seed = identity
    return f"{dataset}, {model}{f', {method}' if method else ''}, seed {seed}"
