"""Build the tables and figures of a suite from record files. Contradictory records raise an error."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from xmlc.core.checksums import check_listed, listed_in
from xmlc.core.errors import XmlcError
from xmlc.core.files import write_text
from xmlc.suite.config.folders import STUDY
from xmlc.suite.config.planned import Declared, Where
from xmlc.suite.config.suite import read_suite
from xmlc.suite.papers import figure_of, table_of
from xmlc.suite.papers.declared import Table
from xmlc.suite.papers.latex import to_latex
from xmlc.suite.papers.notes import notes_of
from xmlc.suite.papers.printing import to_csv, to_markdown
from xmlc.suite.results import records
from xmlc.suite.results.frame import Rows, Source, read_numbers
from xmlc.suite.results.manifest import Manifest
from xmlc.suite.results.records.base import ExperimentRecord, RecordFile, check_header, parsed
from xmlc.suite.results.records.search import SearchRecord
from xmlc.suite.results.records.statistics import Statistics
from xmlc.suite.results.titles import name_models

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Maps the name of a folder to the kind of the records in the folder, if the name and the kind differ.
KINDS = {"evaluation": "thresholds"}
NOT_PRINTED = ("", "-")  # Texts of cells without a number in transcribed tables.
Known = dict[Path, Source]  # Maps a path to a record that is already in memory.


def build_table(made: Manifest, known: Known | None = None) -> Table:
    """Build one table of a paper.

    Parameters
    ----------
    made : Manifest
        Names of the table, of its paper and of the input files: records, published tables, and the suite's
        configuration. The table uses only records of the kinds that it needs.
    known : dict or None
        Records that are already in memory. `build_table` adds every record that it reads to ``known``.

    Raises
    ------
    XmlcError
        The table is unknown, a record cannot be used, or records contradict each other.
    """
    definition = table_of(made.table, made.paper)
    # No paper runs together with a study, so a study's names of models may replace the names that papers register.
    name_models(made.titles, over=made.paper == STUDY)
    given = read_needs(definition, made.records, definition.partial, known)
    suite = read_suite(made.suite) if made.suite and definition.takes_suite else None
    table = definition.table(made.paper, given, read_printed(made), suite)
    table.notes = [] if definition.partial else notes_of(table)
    for note in definition.notes:
        table.notes += [note] if isinstance(note, str) else note(table)
    return table


def write_table(table: Table, prefix: Path) -> list[Path]:
    """Write PREFIX.csv, PREFIX.md and PREFIX.tex atomically, and return their paths."""
    texts = {".csv": to_csv(table), ".md": to_markdown(table), ".tex": to_latex(table)}
    # `with_suffix` would remove the part of the prefix after a dot.
    files = {prefix.with_name(prefix.name + suffix): text for suffix, text in texts.items()}
    for file, text in files.items():
        write_text(file, text)
    return list(files)


def draw_figure(name: str, paper: str, records: Sequence[Path]) -> Figure:
    """Draw one figure of a paper. The name ``2`` means ``figure2``.

    Raises
    ------
    XmlcError
        The figure is unknown, a record cannot be used, or records contradict each other.
    """
    definition = figure_of(name, paper)
    given = read_needs(definition, records)
    return definition(paper, *([source.record for source in sources] for sources in given))


def record_files(records: Sequence[Path], methods: Sequence[str], declared: Declared) -> tuple[Path, ...]:
    """Return the record files of a table or figure. A folder is replaced by its files that the table or figure needs.

    Parameters
    ----------
    records : sequence of Path
        Record files, and folders of record files such as ``<model>/seed0/80/evaluation``.
    methods : sequence of str
        A folder is replaced by its files of these methods, in the order of ``methods``. An empty sequence selects all
        methods.
    declared : Declared
        The table or figure.

    Raises
    ------
    Damaged
        A folder has no list of its files, or lacks a listed file.
    """
    found: list[Path] = []
    for path in records:
        if not path.is_dir():
            found.append(path)
            continue
        kind, split, model = KINDS.get(path.name, path.name), path.parent.name, path.parents[2].name
        needs = [need for need in declared.needs if (need.kind, need.split) == (kind, split)]
        listed = listed_in(path)
        for name in listed:
            check_listed(path, name)
        for method in methods or [Path(name).stem for name in listed]:
            if f"{method}.json" in listed and any(need.takes(model, method) for need in needs):
                found.append(path / f"{method}.json")
    return tuple(found)


def read_needs(
    declared: Declared, files: Sequence[Path], partial: bool = False, known: Known | None = None
) -> list[list[Source]]:
    """Read the records for each entry of a table's or figure's ``needs``.

    Unless ``partial`` is true, the first entry must have at least one record.
    """
    sources = read_sources(files, known)
    found = [choose_records(need, sources, needed=need is declared.needs[0] and not partial) for need in declared.needs]
    _check_one_edition(source for chosen in found for source in chosen)
    return found


def sources_of(tables: Iterable[Manifest], known: Known | None = None) -> list[tuple[Source, list[str]]]:
    """Read each record of ``tables`` once, and return each record with the papers whose tables use the record."""
    found: dict[Path, tuple[Source, list[str]]] = {}
    known = {} if known is None else known
    for made in tables:
        for source in read_sources(made.records, known):
            papers = found.setdefault(source.path, (source, []))[1]
            papers += [made.paper] * (made.paper not in papers)
    return list(found.values())


def read_sources(files: Iterable[Path], known: Known | None = None) -> list[Source]:
    """Read records of any kind, in the order of ``files``.

    Raises
    ------
    XmlcError
        A file cannot be read, is not a record of a known kind, or lacks a field.
    """
    known = {} if known is None else known
    for file in files:
        if file not in known:
            known[file] = Source(file, read_record(file))
    return [known[file] for file in files]


def read_record(path: Path) -> RecordFile:
    """Read one record of any kind.

    Raises
    ------
    XmlcError
        The file cannot be read, is not a record of a known kind, or lacks a field.
    """
    if path.suffix == ".yaml":
        return SearchRecord.read_earlier(path)
    content = parsed(path, "record")
    if isinstance(content, dict) and "kind" not in content and "train" in content:
        return Statistics.of(path, content)
    kind = check_header(path, content, kinds(), "score`, `xmlc thresholds` or `xmlc infer")
    return kinds()[kind].of(path, content)


@cache
def kinds() -> dict[str, type[RecordFile]]:
    """Return a dict from ``KIND`` to the class in `xmlc.suite.results.records` with this kind."""
    names = [f"{records.__name__}.{found.name}" for found in pkgutil.iter_modules(records.__path__)]
    parts = [part for name in names for part in vars(importlib.import_module(name)).values()]
    return {one.KIND: one for one in parts if isinstance(one, type) and issubclass(one, RecordFile) and one.KIND}


def choose_records(need: Where, sources: Sequence[Source], needed: bool = True) -> list[Source]:
    """Return the records that ``need`` selects, in the order of ``sources``.

    Raises
    ------
    XmlcError
        Records contradict each other, or ``need`` selects no record although ``needed`` is true.
    """
    kind = Statistics if need.kind == "statistics" else kinds()[need.kind]
    found: dict[tuple[str, ...], Source] = {}
    for source in sources:
        record = source.record
        split = record.split if isinstance(record, ExperimentRecord) else need.split
        of_need = need.takes(record.model_name, record.method_name) and split == need.split
        if not isinstance(record, kind) or not of_need:
            continue
        seed = f"seed {getattr(record, 'seed', 0)}"
        identity = (record.dataset_name, record.model_name, record.method_name, seed)
        if identity in found:
            named = ", ".join(filter(None, identity))
            raise XmlcError(
                f"{source.path}: found a second record of {named}, after {found[identity].path}. Pass each record once"
            )
        found[identity] = source
    chosen = list(found.values())
    if needed and not chosen:
        about = f"kind {need.kind!r}" + (f", split {need.split!r}" if need.split else "")
        wrote = f"`xmlc {kind.COMMAND}`" if kind.COMMAND else "your script"
        raise XmlcError(
            f"found no record of {about} among {len(sources)} files. Pass files that {wrote} wrote for these models "
            "and methods"
        )
    _check_one_setting(chosen)
    return chosen


def _check_one_edition(sources: Iterable[Source]) -> None:
    """Raise an error if records with the same dataset name have different data.

    A table row must not average over records with different data.
    """
    data: dict[str, tuple[str, Path]] = {}
    for path, record in sources:
        name, digest = record.dataset_name, record.data_digest
        first, where = data.setdefault(name, (digest, path))
        if first != digest:
            raise XmlcError(
                f"{path}: dataset {name!r} has digest {digest[:12]}, expected {first[:12]} as in {where}. "
                "Recompute the outdated record, or give each edition a separate name and entry in datasets.yaml"
            )


def _check_one_setting(sources: Iterable[Source]) -> None:
    """Raise an error if the hyperparameters of a model on a dataset differ between seeds."""
    settings: dict[tuple[str, str], tuple[object, Path]] = {}
    for path, record in sources:
        if not isinstance(record, ExperimentRecord):
            continue
        setting, where = settings.setdefault((record.dataset.name, record.model), (record.hyperparameters, path))
        if setting != record.hyperparameters:
            raise XmlcError(
                f"{path}: found other hyperparameters of {record.model} on {record.dataset.name} than in {where}. "
                "Recompute the older record"
            )


def read_printed(made: Manifest) -> Rows:
    """Return the published numbers of one table from its CSV files in ``<published>/<paper>/``.

    Missing files are skipped, as are the numbers of models that the table does not show.
    """
    definition = table_of(made.table, made.paper)
    models = {model for need in definition.needs for model in need.models if "model" in definition.keys}
    rows: Rows = {}
    for name in definition.printed_in or (definition.name,):
        if made.published and (file := made.published / made.paper / f"{name}.csv").is_file():
            rows |= read_numbers(file, definition.keys)
    return {
        key: {name: number for name, number in row.items() if number.value not in NOT_PRINTED}
        for key, row in rows.items()
        if not models or models & {*key}
    }
