"""Two tables compared cell by cell, ours with ours or with print, and tables accepted in place of earlier ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.suite.papers import table_of
from xmlc.suite.papers.claims_table import CLAIMS
from xmlc.suite.papers.declared import TableDefinition
from xmlc.suite.report.judge import Judge, OurNumber
from xmlc.suite.report.runs import Place
from xmlc.suite.report.verdict import (
    EXACT,
    OUTCOMES,
    Judgement,
    Kind,
    Tolerance,
    Verdict,
    equal_line,
    judge_exactly,
    measured_line,
    number,
)
from xmlc.suite.results.columns import column
from xmlc.suite.results.fingerprint import Fingerprint, of_parts, of_table, read_table
from xmlc.suite.results.frame import TextRows, published_of, quantities_of, read_rows
from xmlc.suite.results.made_of import MadeOf, by_number, same_data
from xmlc.suite.results.settings import Settings


@dataclass(frozen=True)
class Cell:
    """One cell of both tables; ``left`` and ``right`` are text as it stands in the files, "" where there is none."""

    key: tuple[str, ...]
    column: str
    left: str
    right: str
    judgement: Judgement
    judged: bool
    kind: Kind = Kind.MEASURED

    @property
    def verdict(self) -> Verdict:
        """The judgement's verdict."""
        return self.judgement.verdict


@dataclass(frozen=True)
class UnmatchedPart:
    """A column, a row or a whole table that only the left side has (missing) or only the right side (new)."""

    kind: Literal["table", "column", "row"]
    name: tuple[str, ...]
    verdict: Verdict


@dataclass
class Comparison:
    """One table compared.

    Attributes
    ----------
    name : str
    keys : tuple of str
    cells : list of Cell
    parts : list of UnmatchedPart
        Columns, rows or the whole table that only one side has.
    printed : bool
        Whether the left side is a paper's.
    paper, table : str
        Its suite and its name there.
    rows : tuple of dict
        Of both sides, as text, with the deviations of all columns.
    settings : tuple of Settings
        Behind both sides, as far as they are known.
    titles : dict of str to str
        Names in print that the suite gives its models.
    """

    name: str
    keys: tuple[str, ...]
    cells: list[Cell] = field(default_factory=list)
    parts: list[UnmatchedPart] = field(default_factory=list)
    printed: bool = False
    paper: str = ""
    table: str = ""
    rows: tuple[TextRows, TextRows] = field(default_factory=lambda: ({}, {}))
    settings: tuple[Settings, Settings] = field(default_factory=lambda: ({}, {}))
    titles: Mapping[str, str] = field(default_factory=dict)

    def counts(self, kind: Kind | None = None) -> Counter[Verdict]:
        """Count the judged cells by verdict, all or of one kind."""
        return Counter(cell.verdict for cell in self.judged() if kind in (None, cell.kind))

    def judged(self) -> list[Cell]:
        """Return the judged cells; a statistic that a paper prints in each row of a dataset is one."""
        judged = [cell for cell in self.cells if cell.judged]
        if self.printed and "dataset" in self.keys:
            place = self.keys.index("dataset")
            named = {(cell.key[place:place + 1] if cell.kind is Kind.DATASET else cell.key, cell.column): cell
                     for cell in judged}  # fmt: skip
            judged = list(named.values())
        return judged

    @property
    def same(self) -> bool:
        """Say whether two tables of ours are equal; beside a paper's table nothing has to be."""
        return self.printed or not (self.parts or self.moved())

    def compared(self) -> list[Cell]:
        """Return the judged cells of rows and columns that both sides have: the others are named with their part."""
        rows = {part.name for part in self.parts if part.kind == "row"}
        columns = {part.name[0] for part in self.parts if part.kind == "column"}
        return [cell for cell in self.judged() if cell.key not in rows and cell.column not in columns]

    def moved(self) -> list[Cell]:
        """Return those of them that are not equal."""
        return [cell for cell in self.compared() if cell.verdict is not Verdict.EQUAL]


def compare(
    left: Path,
    right: Path,
    published: Judge | None = None,
    tolerance: Tolerance = EXACT,
    columns: Collection[str] = (),
) -> list[Comparison]:
    """Compare two CSV tables, or two folders of them file by file.

    Folders may hold suites, which are folders of tables; those are compared that the left one has. Two tables of ours
    are compared exactly, if no tolerance is given: each number to the last bit. Costs are not judged, and it does not
    matter whether both sides have them. Claims, whose rows name no dataset, are compared where both sides are known to
    be about the same data.

    Parameters
    ----------
    left : Path
        What is expected: published values, a reference, or an earlier run.
    right : Path
        What is judged.
    published : Judge or None
        The left side was printed in a paper and is judged so: each number has an interval of its own, and what only
        the right side has is no difference.
    tolerance : Tolerance
        By how much two numbers of ours may differ and be equal.
    columns : collection of str
        Only these; all if there is none.

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
    comparisons = []
    for name, (old, new) in files.items():
        if old.exists() and (published or new.exists()):
            comparisons.append(_compare_files(name, old, new, published, tolerance, columns))
        elif not published:
            part = UnmatchedPart("table", (name,), Verdict.MISSING if old.exists() else Verdict.NEW)
            comparisons.append(Comparison(name, (), parts=[part]))
    there = quantities_of([row for one in comparisons for rows in one.rows for row in rows.values()])
    if unknown := [name for name in columns if name not in there]:
        raise XmlcError(f"no table has a column {unknown[0]!r}; expected some of {', '.join(there)}")
    return comparisons


def in_order(name: str) -> tuple[bool, str, tuple[bool, int, str]]:
    """Sort tables by suite, within it numbered ones by their number, then the others; claims of all suites last."""
    file = Path(name)
    return (file.stem == CLAIMS, file.parent.name, by_number(file.stem))


def _tables(folder: Path, of: Path) -> set[str]:
    """Name the tables in a folder, and in its folders as far as another has them."""
    suites = [path for path in of.iterdir() if path.is_dir()]
    files = [file for suite in suites for file in (folder / suite.name).glob("*.csv")]
    return {file.relative_to(folder).as_posix() for file in [*files, *folder.glob("*.csv")]}


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


def _compare_files(
    name: str, left: Path, right: Path, published: Judge | None, tolerance: Tolerance, columns: Collection[str]
) -> Comparison:
    paper, definition = definition_of(left, right)
    made = MadeOf.beside(left), MadeOf.beside(right)
    # Of a paper's table nothing may have been run.
    rows = read_rows(left, definition.keys), read_rows(right, definition.keys) if right.exists() else {}
    before, after = ({key: {c: row[c] for c in row if not columns or c in columns} for key, row in side.items()}
                     for side in rows)  # fmt: skip
    if published:
        result = compare_with_print(name, paper, definition, before, after, published)
    elif definition.name == CLAIMS and not (made[1] and same_data(made[0], made[1].digests)):
        result = Comparison(name, definition.keys, parts=[UnmatchedPart("table", (name,), Verdict.OTHER_DATA)])
    else:
        result = compare_rows(name, definition.keys, before, after, tolerance)
    old, new = (one.settings if one else {} for one in made)
    titles = made[1].titles if made[1] else {}
    return replace(result, paper=paper, table=definition.name, rows=rows, settings=(old, new), titles=titles)


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
    name: str, keys: tuple[str, ...], left: TextRows, right: TextRows, tolerance: Tolerance = EXACT
) -> Comparison:
    """Compare two tables of ours on their keys; the rows come in the order of the left one."""
    result = Comparison(name, keys)
    before, after = quantities_of(left.values()), quantities_of(right.values())
    every = [c for c in dict.fromkeys([*before, *after]) if not column(c).cost or (c in before and c in after)]
    result.parts += [UnmatchedPart("column", (c,), Verdict.MISSING) for c in every if c not in after]
    result.parts += [UnmatchedPart("column", (c,), Verdict.NEW) for c in every if c not in before]
    result.parts += [UnmatchedPart("row", key, Verdict.MISSING) for key in left if key not in right]
    result.parts += [UnmatchedPart("row", key, Verdict.NEW) for key in right if key not in left]
    for key in dict.fromkeys([*left, *right]):
        for c in every:
            old, new = (rows.get(key, {}).get(c, "") for rows in (left, right))
            # Where one side has no such row or column, a blank on the other side is no cell.
            if old or new or (c in before and c in after and key in left and key in right):
                judgement = judge_exactly(old, new, tolerance)
                result.cells.append(Cell(key, c, old, new, judgement, judged=not column(c).cost))
    return result


def compare_with_print(
    name: str,
    paper: str,
    definition: TableDefinition,
    printed: TextRows,
    ours: TextRows,
    judge: Judge,
    failed: Callable[[Mapping[str, str]], str] = lambda about: "",
) -> Comparison:
    """Compare what a paper prints of a table with ours; each number is judged by an interval of its own.

    ``failed`` says of a row, named by its keys, why it may have no number of ours.
    """
    result = Comparison(name, definition.keys, printed=True)
    there = quantities_of(ours.values())
    missing = [c for c in quantities_of(printed.values()) if c not in there]
    result.parts += [UnmatchedPart("column", (c,), Verdict.NOT_RUN) for c in missing]
    result.parts += [UnmatchedPart("row", key, Verdict.NOT_RUN) for key in printed if key not in ours]
    for key, row in printed.items():
        about, own = dict(zip(definition.keys, key)), ours.get(key, {})
        reason = own.get("note") or failed(about)
        for c, text in row.items():
            if number(text) is not None:
                value = published_of(ours, definition.keys, key, c) or ""
                found = OurNumber.of(own | {c: value}, c, failed=bool(reason) and number(value) is None)
                place = Place(paper, definition.name, key, c)
                judgement, kind = judge.judge(definition, place, printed, found), judge.kind(definition, place)
                judged = judgement is not None
                result.cells.append(Cell(key, c, text, value, judgement or Judgement(Verdict.EQUAL), judged, kind))
    return result


def accept(tables: Path, reference: Path) -> list[tuple[Path, str]]:
    """Put the tables that were made in the place of the accepted ones, without costs.

    What the claims among them are about, and with which settings they were made, is kept beside them.

    Costs differ from run to run, so that a difference of two accepted versions would show more than moved numbers.

    Parameters
    ----------
    tables : Path
        Folder with ``<suite>/<table>.csv``, of which each that the run made is there.
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
        line = equal_line(compare(old, file)[0].counts()) if old.exists() else "new table"
        table = read_table(file)
        with atomic_file(old) as temporary:
            kept = table[[name for name in table if not column(name).cost]]
            kept.to_csv(temporary, index=False, lineterminator="\n")
        if (made_of := MadeOf.beside(file)) and made_of.digests:
            replace(made_of, records=()).write(old.with_suffix(""))
        said.append((old, line))
    return said


def published_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """Count the verdicts on a paper's cells, those that it measured first, then the other kinds that were run."""
    outcome = outcome_of(comparisons)
    where = f"printed results run again, on {outcome['datasets run']} datasets"
    lines = [measured_line(_counts(comparisons, Kind.MEASURED), where)] if outcome["printed"] else []
    if calibrated := outcome["calibrated"]:
        lines.append(f"{calibrated} of them with settings calibrated on the printed test results")
    for kind in (Kind.OTHER_SPLIT, Kind.QUOTED):
        if (apart := _counts(comparisons, kind)).total() > apart[Verdict.NOT_RUN]:
            lines.append(f"{kind}: {measured_line(apart, 'run again')}")
    for kind in (Kind.DATASET, Kind.CONFIGURATION):
        counts = _counts(comparisons, kind)
        del counts[Verdict.NOT_RUN]
        lines += [f"{kind}: {equal_line(counts, 'equal')}"] if counts else []
    return lines


def outcome_of(comparisons: Sequence[Comparison]) -> dict[str, Any]:
    """Say what became of the cells that papers measured: the headings and cells of one line of a table."""
    counts, ran = _counts(comparisons, Kind.MEASURED), dict[str, bool]()
    cells = [(c, cell) for c in comparisons for cell in c.cells if cell.judged and cell.kind is Kind.MEASURED]
    for comparison, cell in cells:
        dataset = dict(zip(comparison.keys, cell.key)).get("dataset", "")
        ran[dataset] = ran.get(dataset, False) or cell.verdict is not Verdict.NOT_RUN
    run = Counter({one: counts[one] for one in OUTCOMES}).total()
    return {
        "datasets run": f"{sum(ran.values())} of {len(ran)}",
        "printed": counts.total(),
        "not run": counts.total() - run,
        "run": run,
        "calibrated": sum(bool(cell.judgement.calibrated) for _, cell in cells),
        **{str(verdict): counts[verdict] for verdict in OUTCOMES},
    }


def _counts(comparisons: Sequence[Comparison], kind: Kind) -> Counter[Verdict]:
    return sum((comparison.counts(kind) for comparison in comparisons), Counter())
