"""Two tables compared number by number, ours with ours or with a paper's, and tables accepted as the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.suite.papers import every_table, table_of
from xmlc.suite.papers.claims_table import CLAIMS
from xmlc.suite.papers.declared import TableDefinition
from xmlc.suite.report.verdicts import (
    EXACT,
    OUTCOMES,
    Judge,
    Kind,
    Place,
    Spread,
    Tolerance,
    Verdict,
    as_float,
    equal_line,
    half_width,
    judge_exactly,
    measured_line,
    repeats,
    seeds_of,
    spread_of,
)
from xmlc.suite.results.columns import column
from xmlc.suite.results.fingerprint import Fingerprint, of_parts, of_table, read_table
from xmlc.suite.results.frame import Key, Number, Rows, join, published_of, quantities_of, read_numbers
from xmlc.suite.results.made_of import MadeOf, by_number, same_data
from xmlc.suite.results.settings import Settings


class UnmatchedPart(NamedTuple):
    """A column, a row or a whole table that only the left side has (missing) or only the right side (new)."""

    kind: Literal["table", "column", "row"]
    name: tuple[str, ...]
    verdict: Verdict


@dataclass(frozen=True)
class Comparison:
    """One table compared.

    Attributes
    ----------
    name : str
    keys : tuple of str
    numbers : list of Number
        Of the right side, with the left side's as the published one.
    parts : list of UnmatchedPart
        Columns, rows or the whole table that only one side has.
    published : bool
        Whether the left side is a paper's.
    paper, table : str
        Its suite and its name there.
    settings : tuple of Settings
        Behind both sides, as far as they are known.
    titles : dict of str to str
        Names in print that the suite gives its models.
    """

    name: str
    keys: tuple[str, ...] = ()
    numbers: list[Number] = field(default_factory=list)
    parts: list[UnmatchedPart] = field(default_factory=list)
    published: bool = False
    paper: str = ""
    table: str = ""
    settings: tuple[Settings, Settings] = field(default_factory=lambda: ({}, {}))
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        """Whether two tables of ours are equal; next to a paper's table nothing has to be."""
        return self.published or not (self.parts or self.moved())

    def judged(self) -> list[Number]:
        """Return the judged numbers of rows and columns that both sides have: the others are named with their part."""
        rows = {part.name for part in self.parts if part.kind == "row"}
        columns = {part.name[0] for part in self.parts if part.kind == "column"}
        return [one for one in self.numbers if one.verdict and one.key not in rows and one.quantity not in columns]

    def moved(self) -> list[Number]:
        """Return those of them that are not equal."""
        return [number for number in self.judged() if number.verdict is not Verdict.EQUAL]


def compare(
    left: Path,
    right: Path,
    judge: Judge | None = None,
    tolerance: Tolerance = EXACT,
    columns: Collection[str] = (),
    runs: Mapping[Place, Spread] | None = None,
) -> list[Comparison]:
    """Compare two CSV tables, or two folders of them file by file.

    Folders may hold suites, which are folders of tables; those of the left one are compared. Two tables of ours are
    compared exactly, if no tolerance is given: each number to the last bit. Costs are not judged, and it does not
    matter whether both sides have them. Claims, whose rows name no dataset, are compared if both sides are known to be
    about the same data.

    Parameters
    ----------
    left : Path
        What is expected: published values, a reference, or an earlier run.
    right : Path
        What is judged.
    judge : Judge or None
        The left side is a paper's: each number has an interval of its own, and more on the right side is no difference.
    tolerance : Tolerance
        The largest difference of two equal numbers of ours.
    columns : collection of str
        Only these; all if there is none.
    runs : mapping or None
        How much our runs with several seeds vary.

    Raises
    ------
    XmlcError
        A path does not exist, a file is no table of a suite, a key is missing or names two rows, no table has one of
        the columns.
    """
    for path in (left, right):
        if not path.exists():
            raise XmlcError(f"{path}: no such table or folder of tables")
    if left.is_dir() != right.is_dir():
        raise XmlcError(f"{left} and {right}: one is a folder and one a file; expected two of a kind")
    files = {left.name: (left, right)}
    if left.is_dir():
        names = sorted(_tables(left, left) | _tables(right, left), key=in_order)
        files = {name: (left / name, right / name) for name in names}
    if not files:
        raise XmlcError(f"{left} and {right}: neither holds a table (*.csv)")
    comparisons, there = [], dict[str, None]()
    for name, (old, new) in files.items():
        if not old.exists() or not (judge or new.exists()):
            part = UnmatchedPart("table", (name,), Verdict.MISSING if old.exists() else Verdict.NEW)
            comparisons += [Comparison(name, parts=[part])] if not judge else []
            continue
        paper, definition = definition_of(old, new)
        before, after = (read_numbers(file, definition.keys) if file.exists() else {} for file in (old, new))
        there |= dict.fromkeys(quantities_of([*before.values(), *after.values()]))
        made = MadeOf.beside(old), MadeOf.beside(new)
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
        raise XmlcError(f"no table has a column {unknown[0]!r}; expected some of {', '.join(there)}")
    return comparisons


def in_order(name: str) -> tuple[bool, str, tuple[bool, int, str]]:
    """Sort tables by suite, within it numbered ones by their number, then the others; claims of all suites last."""
    file = Path(name)
    return (file.stem == CLAIMS, file.parent.name, by_number(file.stem))


def _tables(folder: Path, of: Path) -> set[str]:
    """Name the tables in a folder, and those in its folders that another has as suites."""
    suites = [path.name for path in of.iterdir() if path.is_dir() and _is_suite(path)]
    files = [file for suite in suites for file in (folder / suite).glob("*.csv")]
    return {file.relative_to(folder).as_posix() for file in [*files, *folder.glob("*.csv")]}


def _is_suite(folder: Path) -> bool:
    """Return whether a folder has a table of a suite, or no tables yet."""
    names = {file.stem for file in folder.glob("*.csv")}
    return not names or not names.isdisjoint(definition.name for _, definition in every_table())


def definition_of(*files: Path) -> tuple[str, TableDefinition]:
    """Return the suite and the definition of a table, by the provenance beside one of its files or by their folder.

    Raises
    ------
    XmlcError
        It is no table that a suite has.
    """
    made = next((made for made in map(MadeOf.beside, files) if made), None)
    paper, name = (made.paper, made.table) if made else (files[0].parent.name, files[0].stem)
    try:
        return paper, table_of(name, paper)
    except XmlcError as error:
        raise XmlcError(f"{files[0]}: {error}, in a folder of the name of its suite") from error


def compared_fingerprints(left: Path, right: Path) -> tuple[Fingerprint, Fingerprint]:
    """Return the fingerprints of two paths as `compare` takes them: a table each, or tables, perhaps none."""
    if not left.is_dir():
        return of_table(read_table(left)), of_table(read_table(right))
    return _of_tables(left, left), _of_tables(right, left)


def _of_tables(folder: Path, of: Path) -> Fingerprint:
    """Return the fingerprint of a folder's compared tables."""
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
    """Compare two tables of ours on their keys; the rows come in the order of the left one.

    The interval of a number is half the width of the noise over seeds: of the side with more of them, or of ``runs``.
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
        # If one side has no such row or column, a blank on the other side is no cell.
        if c in shown and (old or new or (one and other)):
            verdict = None if column(c).cost else judge_exactly(old, new, tolerance)
            number = replace(other or one or Number(quantity=c), value=new, published=old, verdict=verdict)
            rows = left.get(key, {}), right.get(key, {})
            spreads = [spread for row in rows if (spread := spread_of(row, c))]
            spread = max(spreads, key=lambda spread: spread.runs, default=(runs or {}).get((key, c)))
            if verdict is Verdict.DIFFERENT and spread:
                noise, _ = half_width(spread, 0.0, seeds_of(rows[1]), seeds_of(rows[0]))
                number = replace(number, interval=noise, reason=f"seeds vary by {spread.deviation:.2g}")
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
    """Compare a paper's table with ours; each number is judged by an interval of its own.

    A statistic that a paper prints in each row of a dataset is one number. ``failed`` says why a number may be missing.
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
    """Return the place of a number; a statistic of a dataset has one place for all rows of the dataset."""
    if "dataset" in keys and column(quantity).kind == "constant":
        key = (key[keys.index("dataset")],)
    return key, quantity


def accept(tables: Path, reference: Path) -> list[tuple[Path, str]]:
    """Replace the reference tables by the tables that were made, without costs.

    The data of claims, and the settings that they were made with, are kept beside them. Costs differ from run to run,
    so a difference of two versions would show more than moved numbers.

    Parameters
    ----------
    tables : Path
        Folder with ``<suite>/<table>.csv``, of each table that the run made.
    reference : Path
        Folder of the same kind. Suites without a folder in it are passed over.

    Returns
    -------
    list of (Path, str)
        The written files, with what the change is.

    Raises
    ------
    XmlcError
        There is nothing to accept.
    """
    made = [file for file in sorted(tables.glob("*/*.csv")) if (reference / file.parent.name).is_dir()]
    if not made:
        raise XmlcError(
            f"{tables}: no table of a suite that {reference} has a folder of; run a suite first, or make its folder"
        )
    said = []
    for file in made:
        old = reference / file.parent.name / file.name
        line = equal_line(count(compare(old, file)[0].numbers)) if old.exists() else "new table"
        table = read_table(file)
        with atomic_file(old) as temporary:
            kept = table[[name for name in table if not column(name).cost]]
            kept.to_csv(temporary, index=False, lineterminator="\n")
        if (made_of := MadeOf.beside(file)) and made_of.digests:
            replace(made_of, records=()).write(old.with_suffix(""))
        said.append((old, line))
    return said


def count(numbers: Iterable[Number], kind: Kind | None = None) -> Counter[Verdict]:
    """Count judged numbers by verdict, all or of one kind."""
    return Counter(Verdict(one.verdict) for one in numbers if one.verdict and kind in (None, one.kind))


def published_lines(numbers: Sequence[Number]) -> list[str]:
    """Count the verdicts on a paper's numbers, those that it measured first, then the other kinds that were run."""
    outcome = outcome_of(numbers)
    where = f"printed results run again, on {outcome['datasets run']} datasets"
    lines = [measured_line(count(numbers, Kind.MEASURED), where)] if outcome["printed"] else []
    if calibrated := outcome["calibrated"]:
        lines.append(f"{calibrated} of them with settings calibrated on the printed test results")
    for kind in (Kind.OTHER_SPLIT, Kind.QUOTED):
        if (apart := count(numbers, kind)).total() > apart[Verdict.NOT_RUN]:
            lines.append(f"{kind}: {measured_line(apart, 'run again')}")
    for kind in (Kind.DATASET, Kind.CONFIGURATION):
        counts = count(numbers, kind)
        del counts[Verdict.NOT_RUN]
        lines += [f"{kind}: {equal_line(counts, 'equal')}"] if counts else []
    return lines


def outcome_of(numbers: Iterable[Number]) -> dict[str, Any]:
    """Count what became of the numbers that papers measured: the headings and cells of one line of a table."""
    measured = [one for one in numbers if one.verdict and one.kind is Kind.MEASURED]
    counts, datasets = count(measured), {one.dataset for one in measured}
    ran = {one.dataset for one in measured if one.verdict is not Verdict.NOT_RUN}
    run = Counter({one: counts[one] for one in OUTCOMES}).total()
    return {
        "datasets run": f"{len(ran)} of {len(datasets)}",
        "printed": counts.total(),
        "not run": counts.total() - run,
        "run": run,
        "calibrated": sum(bool(one.calibrated) for one in measured),
        **{str(verdict): counts[verdict] for verdict in OUTCOMES},
    }
