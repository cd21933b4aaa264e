"""A table or figure of a suite made from files of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xmlc.papers import figure_of, table_of
from xmlc.papers.tables.table import Published, Table
from xmlc.records.base import ExperimentRecord, parsed
from xmlc.records.reading import kinds, read_records
from xmlc.records.simulation import SimulationRecord, read_simulations
from xmlc.records.statistics import Statistics, read_statistics
from xmlc.records.step import StepRecord, read_steps
from xmlc.records.training import SearchRecord, read_searches
from xmlc.suites.needs import Need
from xmlc.suites.suite import read_suite

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# How to read files that are no records of a model, by the kind that a table or figure needs.
OfTables = ExperimentRecord | StepRecord | Statistics
AnyRecord = OfTables | SimulationRecord | SearchRecord
OTHER_FILES: dict[str, Callable[[Iterable[Path]], Sequence[AnyRecord]]] = {
    "step": read_steps,
    "statistics": read_statistics,
    "simulation": read_simulations,
    "training": read_searches,
}


def build_table(
    name: str, paper: str, records: Sequence[Path], published: Path | None = None, suite: Path | None = None
) -> Table:
    """Build one table of a paper.

    Parameters
    ----------
    name : str
        A table of the paper or of all suites; a bare number means ``table<number>``.
    paper : str
    records : sequence of Path
        Those of other kinds than the table's are left out.
    published : Path or None
        Folder with ``<paper>/<table>.csv``; a paper without such a file has no published values.
    suite : Path or None
        The paper's configuration, for a table that uses it.

    Raises
    ------
    XmlcError
        The table is unknown, or the records do not fit.
    """
    definition = table_of(name, paper)
    printed = read_published(name, paper, published)
    first, *others = read_needs(definition.needs, records, definition.partial)
    configured = [read_suite(suite) if suite else None] if definition.takes_suite else []
    return definition(paper, first, printed, *others, *configured)


def draw_figure(name: str, paper: str, records: Sequence[Path]) -> Figure:
    """Draw one figure of a paper.

    Parameters and errors are those of `build_table`; a bare number means ``figure<number>``.
    """
    definition = figure_of(name, paper)
    return definition(paper, *read_needs(definition.needs, records))


def read_needs(needs: Sequence[Need], records: Sequence[Path], partial: bool = False) -> list[Sequence[AnyRecord]]:
    """Read the records of each need; of the first there must be some, if not ``partial``."""
    files = files_of_kinds(needs, records)
    return [read_need(need, files[need.kind], needed=need is needs[0] and not partial) for need in needs]


def files_of_kinds(needs: Sequence[Need], records: Sequence[Path]) -> dict[str, Sequence[Path]]:
    """Return the files in which the records of each kind that is needed are; maybe with some of other kinds.

    Raises
    ------
    XmlcError
        One is not readable.
    """
    kinds = {need.kind for need in needs}
    if len(kinds) > 1 and kinds & {*OTHER_FILES}:  # whose readers take no files of other kinds
        return {kind: [path for path in records if kind_of(path) == kind] for kind in kinds}
    return dict.fromkeys(kinds, records)


def kind_of(path: Path) -> str:
    """Name the kind of a file that a table is made from; results of searches and statistics do not say theirs.

    Raises
    ------
    XmlcError
        It is not readable.
    """
    if path.suffix == ".yaml":
        return "training"
    content = parsed(path, "record")
    return str(content.get("kind", "statistics")) if isinstance(content, dict) else ""


def read_need(need: Need, records: Sequence[Path], needed: bool = True) -> Sequence[AnyRecord]:
    """Read the records of one need; without ``needed`` there may be none of them."""
    if need.kind in OTHER_FILES:
        return OTHER_FILES[need.kind](records) if needed or records else []
    return read_records(records, kinds()[need.kind], need.portion, needed)


def read_published(name: str, paper: str, folder: Path | None) -> Published:
    """Read the paper's numbers of one table, from the files in ``folder/<paper>/`` that hold it; maybe nothing."""
    definition = table_of(name, paper)
    printed = Published({}, definition.keys)
    for source in definition.printed_in or (definition.name,):
        file = folder / paper / f"{source}.csv" if folder else None
        printed = Published.read(file, definition.keys).over(printed)
    return printed
