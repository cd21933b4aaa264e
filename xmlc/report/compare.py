"""Two tables compared cell by cell, the comparison as text, and tables accepted in place of earlier ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from tabulate import tabulate

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.papers import every_table
from xmlc.papers.common.claims import CLAIM_KEYS
from xmlc.papers.tables.columns import DEVIATION, column
from xmlc.papers.tables.fingerprint import Fingerprint, of_parts, of_table, read_table
from xmlc.papers.tables.made_of import MadeOf, same_data
from xmlc.papers.tables.table import Published, TableDefinition
from xmlc.report.judge import Judge, OurNumber
from xmlc.report.runs import Place
from xmlc.report.verdict import (
    OUTCOMES,
    Judgement,
    Kind,
    Verdict,
    equal_line,
    judge_exactly,
    kind_of,
    measured_line,
    number,
)


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
    """

    name: str
    keys: tuple[str, ...]
    cells: list[Cell] = field(default_factory=list)
    parts: list[UnmatchedPart] = field(default_factory=list)
    printed: bool = False

    def counts(self, kind: Kind | None = None) -> Counter[Verdict]:
        """Count the judged cells by verdict, all or of one kind.

        A statistic that a paper prints in each row of a dataset is one cell.
        """
        judged = [cell for cell in self.cells if cell.judged and kind in (None, cell.kind)]
        if self.printed and "dataset" in self.keys:
            place = self.keys.index("dataset")
            named = {(cell.key[place:place + 1] if cell.kind is Kind.DATASET else cell.key, cell.column): cell
                     for cell in judged}  # fmt: skip
            judged = list(named.values())
        return Counter(cell.verdict for cell in judged)

    @property
    def same(self) -> bool:
        """Say whether two tables of ours are equal; beside a paper's table nothing has to be."""
        return self.printed or not (self.parts or any(c.verdict is not Verdict.EQUAL for c in self.cells if c.judged))


def compare(left: Path, right: Path, published: Judge | None = None) -> list[Comparison]:
    """Compare two CSV tables, or two folders of them file by file.

    Folders may hold suites, which are folders of tables; those are compared that the left one has. Two tables of ours
    are compared exactly: each number to the last bit. Costs are not judged, and it does not matter whether both sides
    have them. Claims, whose rows name no dataset, are compared where both sides are known to be about the same data.

    Parameters
    ----------
    left : Path
        What is expected: published values, a reference, or an earlier run.
    right : Path
        What is judged.
    published : Judge or None
        The left side was printed in a paper and is judged so: each number has an interval of its own, and what only
        the right side has is no difference.

    Raises
    ------
    XmlcError
        A path does not exist, a file is no table, a key is missing or names two rows.
    """
    for path in (left, right):
        if not path.exists():
            raise XmlcError(f"{path}: no such table or folder of tables")
    if left.is_dir() != right.is_dir():
        raise XmlcError(f"{left} and {right}: one is a folder and one a file; expected two of a kind")
    if not left.is_dir():
        return [_compare_files(left.name, left, right, published)]
    names = sorted(_tables(left, left) | _tables(right, left))
    if not names:
        raise XmlcError(f"{left} and {right}: neither holds a table (*.csv)")
    comparisons = []
    for name in names:
        there = (left / name).exists(), (right / name).exists()
        if all(there) or (published and there[0]):
            comparisons.append(_compare_files(name, left / name, right / name, published))
        elif not published:
            part = UnmatchedPart("table", (name,), Verdict.MISSING if there[0] else Verdict.NEW)
            comparisons.append(Comparison(name, (), parts=[part]))
    return comparisons


def _tables(folder: Path, of: Path) -> set[str]:
    """Name the tables in a folder, and in its folders as far as another has them."""
    suites = [path for path in of.iterdir() if path.is_dir()]
    files = [file for suite in suites for file in (folder / suite.name).glob("*.csv")]
    return {file.relative_to(folder).as_posix() for file in [*files, *folder.glob("*.csv")]}


def _compare_files(name: str, left: Path, right: Path, published: Judge | None) -> Comparison:
    before = read_table(left)
    after = read_table(right) if right.exists() else before[:0]  # a table of a paper of which nothing was run
    found = keys_of(left, before, after)
    for path, table in ((left, before), (right, after)):
        _check_keys(path, table, found)
    if found == CLAIM_KEYS and not published:
        ours = MadeOf.beside(right)
        if ours is None or not same_data(MadeOf.beside(left), ours.digests):
            return Comparison(name, found, parts=[UnmatchedPart("table", (name,), Verdict.OTHER_DATA)])
    return compare_frames(name, before, after, found, published, left.parent.name)


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


def keys_of(path: Path, left: pd.DataFrame, right: pd.DataFrame) -> tuple[str, ...]:
    """Name the columns that name a row of two tables: those known of the table, or leading text.

    Raises
    ------
    XmlcError
        It is not clear which these are.
    """
    # Papers may have tables of the same name; that whose keys are all there, and the most of them, is meant.
    named = [table.keys for _, table in every_table() if table.name == path.stem]
    known = [keys for keys in named if all(key in left and key in right for key in keys)]
    if known:
        return max(known, key=len)
    leading = []
    for name in left.columns:
        if any(number(text) is not None for text in left[name]):
            break
        leading.append(name)
    if not leading or len(leading) == len(left.columns):
        raise XmlcError(f"{path}: the columns that name a row are unclear; expected text in front")
    return tuple(leading)


def _check_keys(path: Path, table: pd.DataFrame, keys: tuple[str, ...]) -> None:
    for key in keys:
        if key not in table:
            raise XmlcError(f"{path}: no column {key!r}; expected the keys {', '.join(keys)}")
    twice = table[table.duplicated(list(keys))]
    if len(twice):
        named = ", ".join(twice.iloc[0][list(keys)])
        raise XmlcError(f"{path}: two rows for {named}; expected one row for each {', '.join(keys)}")


def compare_frames(
    name: str,
    left: pd.DataFrame,
    right: pd.DataFrame,
    keys: tuple[str, ...],
    published: Judge | None = None,
    paper: str = "",
) -> Comparison:
    """Compare two frames of text on their keys; the rows come in the order of the left one.

    With ``published``, ``paper`` says whose numbers the left one has.
    """
    result = Comparison(name, keys, printed=bool(published))
    beside = _Print.of(name, keys, left, published, paper) if published else None
    gone = Verdict.NOT_RUN if published else Verdict.MISSING
    every = [c for c in dict.fromkeys([*left, *right]) if c not in keys]
    if not published:
        every = [c for c in every if not column(c).cost or (c in left and c in right)]
    result.parts += [UnmatchedPart("column", (c,), gone) for c in every if c not in right]
    result.parts += [UnmatchedPart("column", (c,), Verdict.NEW) for c in every if c not in left and not published]
    sides = [
        frame.set_index(list(keys), drop=False).add_prefix(side).assign(**{f"place {side}": range(len(frame))})
        for side, frame in (("left ", left), ("right ", right))
    ]
    merged = sides[0].join(sides[1], how="outer").sort_values(["place left ", "place right "])
    for index, row in merged.iterrows():
        key = index if isinstance(index, tuple) else (index,)
        if pd.isna(row["place right "]):
            result.parts.append(UnmatchedPart("row", key, gone))
        if pd.isna(row["place left "]) and not published:
            result.parts.append(UnmatchedPart("row", key, Verdict.NEW))
        for c in every:
            texts = [row.get(f"{side} {c}", "") for side in ("left", "right")]
            left_text, right_text = ("" if pd.isna(text) else text for text in texts)
            if beside and number(left_text) is None:
                continue
            # Where one side has no such row or column, a blank on the other side is no cell.
            in_both = c in left and c in right and row[["place left ", "place right "]].notna().all()
            if left_text or right_text or in_both:
                result.cells.append(
                    beside.cell(key, c, left_text, row) if beside else _exact_cell(key, c, left_text, right_text)
                )
    return result


def _exact_cell(key: tuple[str, ...], name: str, left: str, right: str) -> Cell:
    return Cell(key, name, left, right, judge_exactly(left, right), judged=not column(name).cost)


@dataclass(frozen=True)
class _Print:
    """A printed table that ours is compared with."""

    paper: str
    name: str
    keys: tuple[str, ...]
    definition: TableDefinition | None
    printed: Published
    judge: Judge

    @classmethod
    def of(cls, name: str, keys: tuple[str, ...], frame: pd.DataFrame, judge: Judge, paper: str) -> _Print:
        stem = Path(name).stem
        known = [table for own, table in every_table() if (own, table.name, table.keys) == (paper, stem, keys)]
        printed = Published({tuple(row[key] for key in keys): row for row in frame.to_dict("records")}, keys)
        return cls(paper, stem, keys, known[0] if known else None, printed, judge)

    def cell(self, key: tuple[str, ...], name: str, left: str, row: pd.Series) -> Cell:
        """Judge one number; ``row`` has ours in its columns ``right ...``."""
        texts = {c: row.get(f"right {c}", "") for c in (name, name + DEVIATION, "seeds")}
        ours = {c: None if pd.isna(text) else number(text) for c, text in texts.items()}
        found = OurNumber(ours[name], int(ours["seeds"] or 1), ours[name + DEVIATION])
        judgement = self.judge.judge(self.definition, Place(self.paper, self.name, key, name), self.printed, found)
        kind = kind_of(name, self.definition, dict(zip(self.keys, key)).get("model"))
        right = "" if pd.isna(texts[name]) else str(texts[name])
        return Cell(key, name, left, right, judgement or Judgement(Verdict.EQUAL), judgement is not None, kind)


def accept(tables: Path, reference: Path) -> list[tuple[Path, str]]:
    """Put the tables that were made in the place of the accepted ones, without costs; of claims also their data.

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
        line = headline(compare(old, file)) if old.exists() else "new table"
        table = read_table(file)
        with atomic_file(old) as temporary:
            kept = table[[name for name in table if not column(name).cost]]
            kept.to_csv(temporary, index=False, lineterminator="\n")
        if (made_of := MadeOf.beside(file)) and made_of.digests:
            replace(made_of, records=()).write(old.with_suffix(""))
        said.append((old, line))
    return said


# What a reader has to look at, in this order, and what may be folded.
CHANGED = (Verdict.ABOVE, Verdict.BELOW, Verdict.DIFFERENT, Verdict.MISSING, Verdict.NEW)
FOLDED = (Verdict.UNDECIDED, Verdict.INSIDE, Verdict.NOT_RUN, Verdict.EQUAL)
LISTED = 12
HEADINGS = ("table", "row", "column", "old", "new", "difference")
PUBLISHED_HEADINGS = ("table", "row", "column", "published", "measured", "difference", "interval")


def headline(comparisons: Sequence[Comparison]) -> str:
    """Return the counts of all judged cells in one line; the total is of the left side, so new cells stand apart.

    Of a paper's tables the measured cells are counted first, and each other kind of cell by itself.
    """
    if any(comparison.printed for comparison in comparisons):
        return "; ".join([*published_lines(comparisons), *_parts(comparisons)])
    said = ", ".join([equal_line(sum((c.counts() for c in comparisons), Counter())), *_parts(comparisons)])
    unjudged = sum(len(_cells(comparison, None)) for comparison in comparisons)
    return said + (f"; {unjudged} shown without judgement" if unjudged else "")


def published_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """Count the verdicts on a paper's cells, those that it measured first, then the other kinds that were run."""
    outcome = outcome_of(comparisons)
    where = f"printed results run again, on {outcome['datasets run']} datasets"
    lines = [measured_line(_counts(comparisons, Kind.MEASURED), where)] if outcome["printed"] else []
    if calibrated := outcome["calibrated"]:
        lines.append(f"{calibrated} of them with settings calibrated on the printed test results")
    if (quoted := _counts(comparisons, Kind.QUOTED)).total() > quoted[Verdict.NOT_RUN]:
        lines.append(f"{Kind.QUOTED}: {measured_line(quoted, 'run again')}")
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
    return {
        "datasets run": f"{sum(ran.values())} of {len(ran)}",
        "printed": counts.total(),
        "not run": counts[Verdict.NOT_RUN],
        "run": counts.total() - counts[Verdict.NOT_RUN],
        "calibrated": sum(bool(cell.judgement.calibrated) for _, cell in cells),
        **{str(verdict): counts[verdict] for verdict in OUTCOMES},
    }


def beside_print(paper: str, published: Path, ours: Mapping[str, pd.DataFrame], judge: Judge) -> list[Comparison]:
    """Compare all that a paper prints, in ``published``, with tables of ours by name, of which any may be missing."""
    comparisons = []
    for own, table in every_table():
        file = published / paper / f"{table.name}.csv"
        if own == paper and file.is_file():
            printed = read_table(file)
            found = ours.get(table.name, printed[:0])
            comparisons.append(compare_frames(table.name, printed, found, table.keys, judge, paper))
    return comparisons


def _counts(comparisons: Sequence[Comparison], kind: Kind) -> Counter[Verdict]:
    return sum((comparison.counts(kind) for comparison in comparisons), Counter())


def _parts(comparisons: Sequence[Comparison]) -> list[str]:
    parts = Counter((part.kind, part.verdict) for comparison in comparisons for part in comparison.parts)
    return [f"{count} {kind}{'s' * (count > 1)} {verdict}" for (kind, verdict), count in parts.items()]


def agreement(old: Fingerprint, new: Fingerprint) -> str:
    """Say whether two fingerprints are the same."""
    if old == new:
        return f"Same fingerprint, {new.word}: every number but costs is the same"
    return f"Fingerprints differ: old {old.word}, new {new.word}"


def to_text(comparisons: Sequence[Comparison], title: str, published: bool = False) -> str:
    """Return a comparison as plain text: all that changed, then one line for each table."""
    lines = [headline(comparisons), title]
    for verdict in CHANGED:
        if rows := _rows(comparisons, verdict, published):
            lines += ["", f"{verdict}:", _indented(_table(rows, "plain", published))]
    if parts := _part_lines(comparisons):
        lines += ["", *parts]
    lines += ["", *(f"{comparison.name}: {headline([comparison])}" for comparison in comparisons)]
    for verdict in (Verdict.UNDECIDED, Verdict.INSIDE):
        if rows := _rows(comparisons, verdict, published):
            lines += ["", f"{verdict}:", _indented(_table(rows, "plain", published))]
    if rows := [line for comparison in comparisons for line in _unjudged(comparison)]:
        lines += ["", "without judgement:", _indented(tabulate(rows, tablefmt="plain", disable_numparse=True))]
    return "\n".join(lines) + "\n"


def to_markdown(comparisons: Sequence[Comparison], title: str, published: bool = False) -> str:
    """Return a comparison as Markdown for a pull request: all that changed, then each table folded."""
    lines = [f"**{headline(comparisons)}**", "", title]
    for verdict in CHANGED:
        if rows := _rows(comparisons, verdict, published):
            lines += ["", f"### {verdict.capitalize()}", "", _table(rows, "pipe", published)]
    if parts := [f"- {line}" for line in _part_lines(comparisons)]:
        # A part of a paper that was not run is no finding.
        folded = ["<details><summary>Not run</summary>", "", *parts, "", "</details>"]
        lines += ["", *(folded if published else parts)]
    for comparison in comparisons:
        cells = [cell for verdict in (*FOLDED, None) for cell in _cells(comparison, verdict)]
        if cells:
            said = [str(cell.verdict) if cell.judged else "not judged" for cell in cells]
            rows = [[*_row(comparison, cell, published)[1:], verdict] for cell, verdict in zip(cells, said)]
            headings = [*_headings(published)[1:], "verdict"]
            table = tabulate(rows, headers=headings, tablefmt="pipe", disable_numparse=True)
            lines += ["", f"<details><summary>{comparison.name}: {headline([comparison])}</summary>", "", table, ""]
            lines.append("</details>")
    return "\n".join(lines) + "\n"


def _part_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """Return one line for each table and kind of part that only one side has."""
    named: dict[str, list[str]] = {}
    for comparison in comparisons:
        for part in comparison.parts:
            named.setdefault(f"{comparison.name}: {part.kind} {part.verdict}", []).append(" / ".join(part.name))
    return [f"{what}: {'; '.join(names[:LISTED])}{_more(len(names) - LISTED)}" for what, names in named.items()]


def _more(left_out: int) -> str:
    return f"; and {left_out} more" if left_out > 0 else ""


def _cells(comparison: Comparison, verdict: Verdict | None) -> list[Cell]:
    """Return the judged cells of one verdict, or those without judgement.

    Cells of a row or column that only one side has are named with it and not again.
    """
    rows = {part.name for part in comparison.parts if part.kind == "row"}
    columns = {part.name[0] for part in comparison.parts if part.kind == "column"}
    cells = [cell for cell in comparison.cells if (cell.verdict if cell.judged else None) is verdict]
    return [cell for cell in cells if cell.key not in rows and cell.column not in columns]


def _rows(comparisons: Sequence[Comparison], verdict: Verdict, published: bool) -> list[list[str]]:
    return [_row(comparison, cell, published) for comparison in comparisons for cell in _cells(comparison, verdict)]


def _row(comparison: Comparison, cell: Cell, published: bool) -> list[str]:
    where = [comparison.name, " / ".join(cell.key), cell.column]
    return [*where, *_both(cell), *_difference(cell, published)]


def _headings(published: bool) -> tuple[str, ...]:
    return PUBLISHED_HEADINGS if published else HEADINGS


def _table(rows: list[list[str]], style: str, published: bool) -> str:
    return tabulate(rows, headers=_headings(published), tablefmt=style, disable_numparse=True)


def _both(cell: Cell) -> tuple[str, str]:
    """Return both values in six digits, or as they stand in the files where these would hide the difference."""
    if math.isnan(cell.judgement.difference):
        return cell.left or "–", cell.right or "–"
    left, right = f"{float(cell.left):.6g}", f"{float(cell.right):.6g}"
    return (left, right) if left != right or cell.left == cell.right else (cell.left, cell.right)


def _difference(cell: Cell, published: bool) -> list[str]:
    """Return the difference and, beside a published number, half the width of its interval."""
    unknown = math.isnan(cell.judgement.difference)
    texts = ["" if unknown else f"{cell.judgement.difference:+.3g}"]
    return texts + ["" if unknown or not cell.judged else f"{_plus_minus(cell)}"] * published


def _plus_minus(cell: Cell) -> str:
    return "" if math.isnan(cell.judgement.interval) else f"± {cell.judgement.interval:.3g}"


def _unjudged(comparison: Comparison) -> list[list[str]]:
    """Return one line for each column that is not judged: how the right side compares with the left."""
    lines = []
    unjudged = _cells(comparison, None)
    for name in dict.fromkeys(cell.column for cell in unjudged):
        cells = [cell for cell in unjudged if cell.column == name]
        numbers = [cell for cell in cells if not math.isnan(cell.judgement.difference)]
        ratios = [float(cell.right) / float(cell.left) for cell in numbers if float(cell.left)]
        if column(name).cost and column(name).better and ratios:
            said = f"new / old from {min(ratios):.2f} to {max(ratios):.2f}"
        else:
            different = sum(cell.left != cell.right and cell.judgement.difference != 0 for cell in cells)
            said = f"{different} of {len(cells)} differ"
        lines.append([comparison.name, name, said])
    return lines


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
