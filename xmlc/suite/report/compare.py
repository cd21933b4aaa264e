"""Compare two of our tables, or our table with a paper's table, number by number. Replace reference tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from xmlc.core.errors import XmlcError
from xmlc.core.files import similar_path, write_text
from xmlc.suite.papers import every_table, table_of
from xmlc.suite.papers.claims_table import CLAIMS
from xmlc.suite.papers.declared import TableDefinition
from xmlc.suite.report.verdicts import (
    EXACT,
    Judge,
    NumberKind,
    PublishedKey,
    Spread,
    Tolerance,
    as_float,
    half_width,
    judge_exactly,
    repeats,
    seeds_of,
    spread_of,
)
from xmlc.suite.results.columns import column
from xmlc.suite.results.fingerprint import Fingerprint, of_parts, of_table, read_table
from xmlc.suite.results.frame import Key, Number, Rows, join, published_of, quantities_of, read_numbers
from xmlc.suite.results.manifest import Manifest, by_number, same_data
from xmlc.suite.results.settings import RecordedSettings
from xmlc.suite.results.verdicts import OUTCOMES, Verdict


class UnmatchedPart(NamedTuple):
    """Name a column, row or table that only one side of a comparison has.

    A part is "missing" if only the left side has it, and "new" if only the right side has it.
    """

    kind: Literal["table", "column", "row"]
    name: tuple[str, ...]
    verdict: Verdict


@dataclass(frozen=True)
class Comparison:
    """Hold the comparison of two versions of one table, or of our table with a paper's table.

    Attributes
    ----------
    name : str
    keys : tuple of str
    numbers : list of Number
        Numbers of the right side. The field ``published`` of each number contains the left side's number in the same
        cell.
    parts : list of UnmatchedPart
        Columns, rows or the whole table that only one side has.
    published : bool
        Whether the left side is a paper's table.
    paper, table : str
        The name of the suite, and the name of the table in the suite.
    settings : tuple of RecordedSettings
        The recorded settings of the left table and of the right table. If the settings of a table are not known, they
        are empty.
    titles : dict of str to str
        The names of models in tables, by the models' names in the suite.
    """

    name: str
    keys: tuple[str, ...] = ()
    numbers: list[Number] = field(default_factory=list)
    parts: list[UnmatchedPart] = field(default_factory=list)
    published: bool = False
    paper: str = ""
    table: str = ""
    settings: tuple[RecordedSettings, RecordedSettings] = field(default_factory=lambda: ({}, {}))
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        """Return whether two of our tables are equal.

        For a comparison with a paper's table, return True.
        """
        return self.published or not (self.parts or self.moved())

    def judged(self) -> list[Number]:
        """Return the numbers that have a verdict and that are in rows and columns of both sides."""
        rows = {part.name for part in self.parts if part.kind == "row"}
        columns = {part.name[0] for part in self.parts if part.kind == "column"}
        return [one for one in self.numbers if one.verdict and one.key not in rows and one.quantity not in columns]

    def moved(self) -> list[Number]:
        """Return the numbers that are in rows and columns of both sides and whose verdict is not "equal"."""
        return [number for number in self.judged() if number.verdict is not Verdict.EQUAL]


def compare(
    left: Path,
    right: Path,
    judge: Judge | None = None,
    tolerance: Tolerance = EXACT,
    columns: Collection[str] = (),
    runs: Mapping[PublishedKey, Spread] | None = None,
) -> list[Comparison]:
    """Compare two CSV tables, or two folders of tables file by file.

    Folders may contain one folder of tables for each suite. Only suites in the left folder are compared. Without a
    tolerance, equal numbers of our own tables are bit-identical. Columns of costs are not judged, and may be missing on
    one side. Tables of claims, whose rows name no dataset, are compared only if both sides are known to use the same
    data.

    Parameters
    ----------
    left : Path
        The expected tables: published values, a reference, or an earlier run.
    right : Path
        The tables to judge.
    judge : Judge or None
        A judge is required if the left side has a paper's tables. The judge computes an interval for each published
        number. If a judge is given, the right side may contain numbers that the left side lacks.
    tolerance : Tolerance
        The largest difference at which two of our numbers count as equal.
    columns : collection of str
        Columns to compare. An empty collection selects all columns.
    runs : mapping or None
        The variation of our numbers over runs with several seeds. A key is the place of a number: paper, table, row and
        column.

    Raises
    ------
    XmlcError
        A path does not exist, or a file is not a table of a suite. A table lacks a column with keys, or two of its rows
        have the same keys. A column in ``columns`` is in no table.
    """
    for path in (left, right):
        if not path.exists():
            raise XmlcError(f"{path}: found no such table or folder of tables{similar_path(path)}")
    if left.is_dir() != right.is_dir():
        raise XmlcError(f"{left} and {right}: found a folder and a file, expected two folders or two files")
    files = {left.name: (left, right)}
    if left.is_dir():
        names = sorted(_tables(left, left) | _tables(right, left), key=in_order)
        files = {name: (left / name, right / name) for name in names}
    if not files:
        raise XmlcError(f"{left} and {right}: found no table (*.csv) in either")
    comparisons, there = [], dict[str, None]()
    for name, (old, new) in files.items():
        if not old.exists() or not (judge or new.exists()):
            part = UnmatchedPart("table", (name,), Verdict.MISSING if old.exists() else Verdict.NEW)
            comparisons += [Comparison(name, parts=[part])] if not judge else []
            continue
        paper, definition = definition_of(old, new)
        before, after = (read_numbers(file, definition.keys) if file.exists() else {} for file in (old, new))
        there |= dict.fromkeys(quantities_of([*before.values(), *after.values()]))
        made = Manifest.beside(old), Manifest.beside(new)
        if judge:
            result = compare_with_published(name, paper, definition, before, after, judge, columns)
        elif definition.name == CLAIMS and not (made[1] and same_data(made[0], made[1].digests)):
            result = Comparison(name, definition.keys, parts=[UnmatchedPart("table", (name,), Verdict.OTHER_DATA)])
        else:
            spreads = {place[2:]: spread for place, spread in (runs or {}).items() if place[:2] == (paper, old.stem)}
            result = compare_rows(name, definition.keys, before, after, tolerance, columns, spreads)
        settings = made[0].settings if made[0] else {}, made[1].settings if made[1] else {}
        titles = made[1].titles if made[1] else {}
        comparisons.append(replace(result, paper=paper, table=definition.name, settings=settings, titles=titles))
    if unknown := [name for name in columns if name not in there]:
        raise XmlcError(f"--columns: found no column {unknown[0]!r} in any table, expected some of {', '.join(there)}")
    return comparisons


def in_order(name: str) -> tuple[bool, str, tuple[bool, int, str]]:
    """Return the key by which the table of a file is sorted.

    Tables are sorted by suite, and numbered tables come first within a suite. The claims of all suites come last.
    """
    file = Path(name)
    return (file.stem == CLAIMS, file.parent.name, by_number(file.stem))


def _tables(folder: Path, of: Path) -> set[str]:
    """Return the names of the tables in a folder and its subfolders.

    A subfolder is searched only if the folder ``of`` has a suite of the same name.
    """
    suites = [path.name for path in of.iterdir() if path.is_dir() and _is_suite(path)]
    files = [file for suite in suites for file in (folder / suite).glob("*.csv")]
    return {file.relative_to(folder).as_posix() for file in [*files, *folder.glob("*.csv")]}


def _is_suite(folder: Path) -> bool:
    """Return whether a folder may contain the tables of a suite.

    The result is true if a suite defines at least one of the folder's tables, or if the folder contains no tables.
    """
    names = {file.stem for file in folder.glob("*.csv")}
    return not names or not names.isdisjoint(definition.name for _, definition in every_table())


def definition_of(*files: Path) -> tuple[str, TableDefinition]:
    """Return the name of a table's suite, and the definition of the table.

    The function reads the names of suite and table from the first manifest next to one of the files. Without a
    manifest, the first file's folder and name are the names of the suite and the table.

    Raises
    ------
    XmlcError
        No suite has this table.
    """
    made = next((made for made in map(Manifest.beside, files) if made), None)
    paper, name = (made.paper, made.table) if made else (files[0].parent.name, files[0].stem)
    try:
        return paper, table_of(name, paper)
    except XmlcError as error:
        raise XmlcError(f"{files[0]}: {error}. The name of the folder must be the name of the suite") from error


def compared_fingerprints(left: Path, right: Path) -> tuple[Fingerprint, Fingerprint]:
    """Return the fingerprint of the left side and the fingerprint of the right side of a comparison."""
    return _of_tables(left, left), _of_tables(right, left)


def _of_tables(folder: Path, of: Path) -> Fingerprint:
    """Return the fingerprint of a table, or of the tables in a folder that `compare` reads."""
    if not of.is_dir():
        return of_table(read_table(folder))
    parts: dict[str, dict[str, Fingerprint]] = {}
    for name in _tables(folder, of):
        suite, _, file = name.rpartition("/")
        parts.setdefault(suite, {})[file] = of_table(read_table(folder / name))
    return of_parts(parts.pop("", {}) | {suite: of_parts(tables) for suite, tables in parts.items()})


def compare_rows(
    name: str,
    keys: tuple[str, ...],
    left: Rows,
    right: Rows,
    tolerance: Tolerance = EXACT,
    columns: Collection[str] = (),
    runs: Mapping[tuple[Key, str], Spread] | None = None,
) -> Comparison:
    """Compare two of our tables. Rows are matched by their keys, and have the order of the left table.

    If a number changed, its interval shows the noise over seeds. The noise is estimated from the side with more seeds,
    or from ``runs`` if neither side has several seeds.
    """
    before, after = ([c for c in quantities_of(side.values()) if not columns or c in columns] for side in (left, right))
    shown = {c for c in (*before, *after) if not column(c).cost or (c in before and c in after)}
    parts = [UnmatchedPart("column", (c,), Verdict.MISSING) for c in before if c in shown and c not in after]
    parts += [UnmatchedPart("column", (c,), Verdict.NEW) for c in after if c in shown and c not in before]
    parts += [UnmatchedPart("row", key, Verdict.MISSING) for key in left if key not in right]
    parts += [UnmatchedPart("row", key, Verdict.NEW) for key in right if key not in left]
    numbers = []
    for key, c, one, other in join(left, right):
        old, new = one.value if one else "", other.value if other else ""
        # A blank cell is skipped if the other side has no such cell.
        if c in shown and (old or new or (one and other)):
            verdict = None if column(c).cost else judge_exactly(old, new, tolerance)
            number = replace(other or one or Number(quantity=c), value=new, published=old, verdict=verdict)
            rows = left.get(key, {}), right.get(key, {})
            spreads = [spread for row in rows if (spread := spread_of(row, c))]
            spread = max(spreads, key=lambda spread: spread.runs, default=(runs or {}).get((key, c)))
            if verdict in (Verdict.ABOVE, Verdict.BELOW) and spread:
                noise, _ = half_width(spread, 0.0, seeds_of(rows[1]), seeds_of(rows[0]))
                number = replace(number, interval=noise, reason=f"standard deviation over seeds {spread.deviation:.2g}")
            numbers.append(number)
    return Comparison(name, keys, numbers, parts)


def compare_with_published(
    name: str,
    paper: str,
    definition: TableDefinition,
    published: Rows,
    ours: Rows,
    judge: Judge,
    columns: Collection[str] = (),
    failed: Callable[[Number], str] = lambda number: "",
) -> Comparison:
    """Compare a paper's table with our table, and judge each of our numbers by a separate interval.

    If a paper repeats a statistic in each row of a dataset, the statistic is compared only once. ``failed`` is a
    function that returns the reason why a number is missing.
    """
    there = quantities_of(ours.values())
    expected = [c for c in quantities_of(published.values()) if not columns or c in columns]
    parts = [UnmatchedPart("column", (c,), Verdict.NOT_RUN) for c in expected if c not in there]
    parts += [UnmatchedPart("row", key, Verdict.NOT_RUN) for key in published if key not in ours]
    numbers: dict[tuple[Key, str], Number] = {}
    for key, row in published.items():
        own = ours.get(key, {})
        for c, paper_number in row.items():
            if c in expected and as_float(paper_number.value) is not None:
                found = published_of(ours, definition.keys, key, c)
                number = replace(paper_number, published=paper_number.value, value=found.value if found else None)
                number = replace(number, kind=judge.kind(paper, definition, number))
                if as_float(number.value) is None:
                    note = own["note"].value if "note" in own else None
                    number = replace(number, reason=note or failed(number))
                if not repeats(number, published):
                    number = judge.judge(paper, definition.name, number, own)
                numbers[place_of(definition.keys, key, c)] = number
    return Comparison(name, definition.keys, list(numbers.values()), parts, published=True)


def place_of(keys: Sequence[str], key: Key, quantity: str) -> tuple[Key, str]:
    """Return the row key and the quantity that identify a cell.

    If the quantity is a statistic of a dataset, the row key contains only the dataset.
    """
    if "dataset" in keys and column(quantity).kind == "constant":
        key = (key[keys.index("dataset")],)
    return key, quantity


def accept(tables: Path, reference: Path) -> list[tuple[Path, str]]:
    """Replace the reference tables by the tables of a run, without columns of costs.

    For claims, the data and settings of the run are written to a file next to the table. Costs are left out because
    they differ from run to run. Without costs, a diff of two versions of a reference table shows only changes of
    results.

    Parameters
    ----------
    tables : Path
        Folder with ``<suite>/<table>.csv`` for each table of the run.
    reference : Path
        Folder of reference tables with the same structure. Suites without a subfolder in ``reference`` are skipped.

    Returns
    -------
    list of (Path, str)
        The written files, each with a line that describes how the file changed.

    Raises
    ------
    XmlcError
        No suite has both a table of the run and a folder of reference tables.
    """
    made = [file for file in sorted(tables.glob("*/*.csv")) if (reference / file.parent.name).is_dir()]
    if not made:
        raise XmlcError(
            f"{tables}: found no table of a suite with a folder in {reference}. Run a suite first, or create its folder"
        )
    said = []
    for file in made:
        old = reference / file.parent.name / file.name
        line = equal_line(count(compare(old, file)[0].numbers)) if old.exists() else "new table"
        table = read_table(file)
        kept = table[[name for name in table if not column(name).cost]]
        write_text(old, kept.to_csv(index=False, lineterminator="\n"))
        if (manifest := Manifest.beside(file)) and manifest.digests:
            replace(manifest, records=()).write(old.with_suffix(""))
        said.append((old, line))
    return said


def count(numbers: Iterable[Number], kind: NumberKind | None = None) -> Counter[Verdict]:
    """Return how many numbers have each verdict.

    If ``kind`` is given, only numbers of this kind are counted.
    """
    return Counter(Verdict(one.verdict) for one in numbers if one.verdict and kind in (None, one.kind))


def equal_line(counts: Mapping[Verdict, int], words: str = "cells equal") -> str:
    """Return a text with the number of cells for each verdict: "38 of 44 cells equal, 4 above, 2 missing"."""
    total = sum(counts.values()) - counts.get(Verdict.NEW, 0)
    others = [f"{counts[one]} {one}" for one in Verdict if one is not Verdict.EQUAL and counts.get(one)]
    return ", ".join([f"{counts.get(Verdict.EQUAL, 0)} of {total} {words}", *others])


def measured_line(counts: Mapping[Verdict, int], words: str) -> str:
    """Return a text with the number of published cells that we ran, and how many of these cells have each verdict.

    An example begins "2 of 9 run again: 1 equal, 1 inside, 0 above".
    """
    found = {one: counts.get(one, 0) for one in OUTCOMES}
    verdicts = ", ".join(f"{count} {one}" for one, count in found.items())
    ran = sum(found.values())
    return f"{ran} of {sum(counts.values())} {words}" + (f": {verdicts}" if ran else "")


def published_lines(numbers: Sequence[Number]) -> list[str]:
    """Return lines of text that count the verdicts on a paper's numbers.

    Measured numbers come first. Numbers of another kind are counted only if we reran at least one of them.
    """
    outcome = count_outcomes(numbers)
    where = f"published results run again, on {outcome['datasets run']} datasets"
    lines = [measured_line(count(numbers, NumberKind.MEASURED), where)] if outcome["published"] else []
    if fitted := outcome["agree, fitted"]:
        lines.append(f"{fitted} of these agree by settings that were fitted to published results")
    for kind in (NumberKind.OTHER_SPLIT, NumberKind.QUOTED):
        if (apart := count(numbers, kind)).total() > apart[Verdict.NOT_RUN]:
            lines.append(f"{kind}: {measured_line(apart, 'run again')}")
    for kind in (NumberKind.DATASET, NumberKind.CONFIGURATION):
        counts = count(numbers, kind)
        del counts[Verdict.NOT_RUN]
        lines += [f"{kind}: {equal_line(counts, 'equal')}"] if counts else []
    return lines


def count_outcomes(numbers: Iterable[Number]) -> dict[str, Any]:
    """Count the outcomes of numbers that papers measured. Return a table row as a dict from headings to cells.

    A number is reproduced if it is equal to the published number or inside its interval. If its settings were fitted to
    published results, it agrees with the published number, but is not reproduced.
    """
    published = [one for one in numbers if one.verdict and one.kind is NumberKind.MEASURED]
    run = [one for one in published if one.verdict is not Verdict.NOT_RUN]
    agreeing = [one for one in run if one.verdict in (Verdict.EQUAL, Verdict.INSIDE)]
    fitted = [one for one in agreeing if one.fitted_settings]
    differing = [one for one in run if one.verdict in (Verdict.ABOVE, Verdict.BELOW)]
    datasets = {one.dataset for one in published}
    return {
        "datasets run": f"{len({one.dataset for one in run})} of {len(datasets)}",
        "published": len(published),
        "run": len(run),
        "reproduced": len(agreeing) - len(fitted),
        "agree, fitted": len(fitted),
        "differ": len(differing),
        "undecided": len([one for one in run if one.verdict is Verdict.UNDECIDED]),
    }
