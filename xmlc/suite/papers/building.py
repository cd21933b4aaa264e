"""Build tables and figures from records, which must not contradict each other."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from xmlc.core.checksums import check_listed, listed_in
from xmlc.core.errors import XmlcError
from xmlc.core.files import write_text
from xmlc.suite.config.folders import STUDY
from xmlc.suite.config.planned import Declared
from xmlc.suite.config.suite import read_suite
from xmlc.suite.papers import figure_of, table_of
from xmlc.suite.papers.notes import notes_of
from xmlc.suite.papers.printing import to_csv, to_latex, to_markdown
from xmlc.suite.papers.tables import Table, TableSpec
from xmlc.suite.results import records
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.numbers import NOT_PRINTED, index_of, read, read_published
from xmlc.suite.results.records.base import RecordFile, check_header, parsed
from xmlc.suite.results.records.search import SearchRecord
from xmlc.suite.results.records.statistics import Statistics
from xmlc.suite.results.titles import name_models

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Kinds of the records in folders of another name.
KINDS = {"evaluation": "thresholds"}
Known = dict[Path, RecordFile]


def build_table(made: Manifest, known: Known | None = None) -> Table:
    """Build one table of a paper from files in the manifest ``made``, whose records must not
    contradict each other.

    Only the needed kinds of records are read, unless they are in ``known``, to which they are
    added.
    """
    spec = table_of(made.table, made.paper)
    # A study never runs together with a paper, so its names may replace theirs.
    name_models(made.titles, over=made.paper == STUDY)
    numbers = read_needs(spec, made.records, spec.partial, known)
    suite = None
    if made.suite and spec.takes_suite:
        suite = read_suite(made.suite)
    table = spec.build(made.paper, numbers, published_numbers(made), suite)
    if not spec.partial:
        table.notes = notes_of(table)
    table.notes += spec.notes
    for notes in spec.noted_by:
        table.notes += notes(table)
    return table


def write_table(table: Table, prefix: Path) -> list[Path]:
    """Write PREFIX.csv, PREFIX.md and PREFIX.tex atomically, and return their paths."""
    texts = {"csv": to_csv(table), "md": to_markdown(table), "tex": to_latex(table)}
    files = []
    for ending, text in texts.items():
        # `with_suffix` would remove the part of the prefix after a dot.
        files.append(prefix.with_name(f"{prefix.name}.{ending}"))
        write_text(files[-1], text)
    return files


def draw_figure(name: str, paper: str, records: Sequence[Path]) -> Figure:
    """Draw one figure of a paper, with ``2`` for ``figure2``. Errors are as for `build_table`."""
    spec = figure_of(name, paper)
    return spec.draw(read_needs(spec, records))


def record_files(
    records: Sequence[Path], methods: Sequence[str], declared: Declared
) -> tuple[Path, ...]:
    """Return the record files of a table or figure, which replace their folders.

    From a folder such as ``<model>/seed0/80/evaluation``, it takes those of ``methods`` in this
    order, by default of all.
    """
    found: list[Path] = []
    for path in records:
        if not path.is_dir():
            found.append(path)
            continue
        listed = listed_in(path)
        kind = KINDS.get(path.name, path.name)
        split = path.parent.name
        model = path.parents[2].name
        needs = [need for need in declared.needs if (need.kind, need.split) == (kind, split)]
        for name in listed:
            check_listed(path, name)
        for method in methods or [Path(name).stem for name in listed]:
            if f"{method}.json" in listed and any(need.takes(model, method) for need in needs):
                found.append(path / f"{method}.json")
    return tuple(found)


def read_needs(
    declared: Declared, files: Sequence[Path], partial: bool = False, known: Known | None = None
) -> pd.DataFrame:
    """Return the numbers of a table's or figure's records (`xmlc.suite.results.numbers`).

    The column ``need`` is the index of the entry of ``needs`` that selects the record, and the
    first entry may select none only if ``partial`` is true.
    """
    records = read_records(files, known)
    frames = [read({}).assign(need=0)]
    editions: dict[str, tuple[str, Path]] = {}
    for place, need in enumerate(declared.needs):
        kind = kinds().get(need.kind, Statistics)
        settings: dict[tuple[str, str], tuple[object, Path]] = {}
        runs: dict[tuple[str, ...], Path] = {}
        chosen: Known = {}
        for path, record in records.items():
            is_chosen = (
                isinstance(record, kind) and getattr(record, "split", need.split) == need.split
            )
            if not is_chosen or not need.takes(record.model_name, record.method_name):
                continue
            dataset = record.dataset_name
            digest, where = editions.setdefault(dataset, (record.data_digest, path))
            if digest != record.data_digest:
                raise XmlcError(
                    f"{path}: dataset {dataset!r} has digest {record.data_digest:.12}, expected "
                    f"{digest:.12} as in {where}. Recompute the outdated record, or give each "
                    "edition a separate name and entry in datasets.yaml"
                )
            setting = getattr(record, "hyperparameters", None)
            other, where = settings.setdefault((dataset, record.model_name), (setting, path))
            if setting != other:
                raise XmlcError(
                    f"{path}: found other hyperparameters of {record.model_name} on {dataset} "
                    f"than in {where}. Recompute the older record"
                )
            run = (
                dataset,
                record.model_name,
                record.method_name,
                f"seed {getattr(record, 'seed', 0)}",
            )
            if runs.setdefault(run, path) != path:
                named = ", ".join(filter(None, run))
                raise XmlcError(
                    f"{path}: found a second record of {named}, after {runs[run]}. Pass each "
                    "record once"
                )
            chosen[path] = record
        if not chosen and place == 0 and not partial:
            wrote = "your script wrote"
            if kind.COMMAND:
                wrote = f"`xmlc {kind.COMMAND}` wrote"
            about = (
                f"found no record of kind {need.kind!r}, split {need.split!r} among "
                f"{len(records)} files"
            )
            raise XmlcError(f"{about}. Pass files that {wrote} for these models and methods")
        frames.append(read(chosen, details=not isinstance(declared, TableSpec)).assign(need=place))
    return pd.concat(frames, ignore_index=True)


def read_records(files: Iterable[Path], known: Known | None = None) -> dict[Path, RecordFile]:
    """Return records of any kind in the order of ``files``, read unless they are in ``known``."""
    if known is None:
        known = {}
    for file in files:
        if file in known:
            continue
        if file.suffix == ".yaml":
            known[file] = SearchRecord.read_earlier(file)
            continue
        content = parsed(file, "record")
        kind: type[RecordFile] = Statistics
        if "kind" in content or "train" not in content:
            kind = kinds()[
                check_header(file, content, kinds(), "score`, `xmlc thresholds` or `xmlc infer")
            ]
        known[file] = kind.of(file, content)
    return {file: known[file] for file in files}


@cache
def kinds() -> dict[str, type[RecordFile]]:
    """Return the classes in `xmlc.suite.results.records` by ``KIND``."""
    found = {}
    for module in pkgutil.iter_modules(records.__path__):
        for part in vars(importlib.import_module(f"{records.__name__}.{module.name}")).values():
            if isinstance(part, type) and issubclass(part, RecordFile) and part.KIND:
                found[part.KIND] = part
    return found


def published_numbers(made: Manifest) -> pd.DataFrame:
    """Return a table's published numbers from its CSV files in ``<published>/<paper>/``.

    Missing files and models that the table lacks are skipped. Rows of later files take precedence.
    """
    spec = table_of(made.table, made.paper)
    keys = list(spec.keys)
    cells = pd.DataFrame(columns=[*keys, "quantity", "value"], dtype=object)
    for name in spec.printed_in or (spec.name,):
        file = Path(made.published or "", made.paper, f"{name}.csv")
        if made.published and file.is_file():
            more = read_published(file, keys)[cells.columns]
            cells = pd.concat(
                [cells[~index_of(cells, keys).isin(index_of(more, keys))], more], ignore_index=True
            )
    models = {*chain(*(need.models for need in spec.needs))}
    is_shown = ~cells["value"].isin(NOT_PRINTED)
    if models and "model" in keys:
        is_shown &= cells["model"].isin(models)
    return cells[is_shown].reset_index(drop=True)
