"""Archive finished tables, and list all numbers of their records."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.suite.config import paths
from xmlc.suite.papers.building import read_records
from xmlc.suite.results.columns import column
from xmlc.suite.results.manifest import SUFFIX, Manifest
from xmlc.suite.results.numbers import ABOUT, read
from xmlc.suite.results.records.base import RecordFile

# All other keys of the environment are packages with their versions
NOT_PACKAGES = ("machine", "cpu", "threads", "time")
ENVIRONMENT = (
    "split",
    "threads",
    "seconds",
    "peak_mb",
    "time",
    "cpu",
    "versions",
    "hyperparameters",
    "digest",
)
LONG_COLUMNS = (
    *(
        "dataset",
        "model",
        "method",
        "variant",
        "seed",
        "quantity",
        "value",
        "record",
        "unit",
        "papers",
    ),
    *ENVIRONMENT,
)


def write_archive(tables: Sequence[Manifest], out: Path) -> int:
    """Archive the manifests, records and figures that a page of these tables needs, and return
    their number.

    The tar file, compressed by xz, is bit-identical for files of equal content, even if their
    owners and dates differ. Files must be below the current folder.
    """
    files: set[Path] = set()
    for made in tables:
        files.add(Path(f"{paths.TABLE.of(paper=made.paper, table=made.table)}{SUFFIX}"))
        files |= {*made.records, *Path(paths.FIGURES, made.paper).glob("*.svg")}
    for file in files:
        if file.is_absolute() or ".." in file.parts:
            raise XmlcError(
                f"{file}: found a path outside the current folder. Build the tables here with "
                "Snakemake"
            )
    with atomic_file(out) as temporary, tarfile.open(temporary, "w:xz", preset=9) as archive:
        for file in sorted(files):
            content = file.read_bytes()
            member = tarfile.TarInfo(file.as_posix())
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return len(files)


def long_table(tables: Sequence[Manifest]) -> pd.DataFrame:
    """Return all numbers in the records of some tables, one a row, with unit and environment."""
    papers: dict[Path, dict[str, None]] = {}
    for made in tables:
        for path in made.records:
            papers.setdefault(path, {})[made.paper] = None
    records = read_records(papers)
    abouts = []
    for path, record in records.items():
        abouts.append(
            environment_columns(record) | {"record": path, "papers": " ".join(papers[path])}
        )
    numbers = read(records).drop(columns="split")
    is_number = pd.to_numeric(numbers["value"], errors="coerce").notna()
    table = numbers[is_number & (numbers["variant"] != ABOUT)].merge(
        pd.DataFrame(abouts, dtype=object), on="record"
    )
    table["unit"] = table["quantity"].map(lambda name: column(name).unit)
    table["record"] = table["record"].map(Path.as_posix)
    return table.reindex(columns=LONG_COLUMNS).astype({"seed": "Int64"})


def environment_columns(record: RecordFile) -> dict[str, Any]:
    """Return the columns `ENVIRONMENT` of a record in the table of all numbers.

    ``seconds`` and ``peak_mb`` are of the process that wrote the record.
    """
    environment: dict[str, Any] = getattr(record, "environment", None) or {}
    versions = [f"{name} {text}" for name, text in environment.items() if name not in NOT_PACKAGES]
    columns: dict[str, Any] = {"versions": "; ".join(versions), "digest": record.data_digest}
    step = getattr(record, "step", None)
    if step:
        columns |= step | {"peak_mb": step["peak_bytes"] * 1e-6}
    columns |= environment
    if hasattr(record, "hyperparameters"):
        columns["hyperparameters"] = json.dumps(record.hyperparameters, sort_keys=True)
    columns["split"] = getattr(record, "split", "") or columns.get("split")
    return {name: columns.get(name) for name in ENVIRONMENT}
