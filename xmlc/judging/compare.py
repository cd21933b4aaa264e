"""Two tables, cell by cell: joined on their keys, each difference judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.judging.judge import Found, Judge
from xmlc.judging.kinds import Kind, kind_of
from xmlc.judging.runs import Place
from xmlc.judging.verdict import Judgement, Verdict, judge_exactly, number
from xmlc.papers import every_table
from xmlc.papers.common.claims import CLAIM_KEYS
from xmlc.tables.columns import DEVIATION, column
from xmlc.tables.fingerprint import Fingerprint, of_parts, of_table, read_table
from xmlc.tables.made_of import MadeOf, same_data
from xmlc.tables.panels import Published
from xmlc.tables.table import TableDefinition

BAD = (Verdict.NOT_REPRODUCED, Verdict.DIFFERENT, Verdict.FAILED, Verdict.MISSING, Verdict.NEW)


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
        """What is said of it."""
        return self.judgement.verdict


@dataclass(frozen=True)
class Part:
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
    parts : list of Part
        Columns, rows or the whole table that only one side has.
    printed : bool
        Whether the left side is a paper's.
    """

    name: str
    keys: tuple[str, ...]
    cells: list[Cell] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    printed: bool = False

    def counts(self, kind: Kind | None = None) -> Counter[Verdict]:
        """Count the judged cells by verdict, all or those of one kind.

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
        """Say whether two tables of ours are equal, or no measured or constant cell of a paper is another."""
        bad = any(cell.verdict in BAD for cell in self.cells if cell.judged and cell.kind is not Kind.QUOTED)
        return not bad and all(part.verdict is Verdict.NOT_RUN for part in self.parts)


def compare(left: Path, right: Path, keys: Sequence[str] = (), published: Judge | None = None) -> list[Comparison]:
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
    keys : sequence of str
        Columns that name a row; by default those that the table is known to have, or the leading columns of text.
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
        return [_compare_files(left.name, left, right, keys, published)]
    names = sorted(_tables(left, left) | _tables(right, left))
    if not names:
        raise XmlcError(f"{left} and {right}: neither holds a table (*.csv)")
    comparisons = []
    for name in names:
        if not (right / name).exists():
            verdict = Verdict.NOT_RUN if published else Verdict.MISSING
            comparisons.append(Comparison(name, (), parts=[Part("table", (name,), verdict)], printed=bool(published)))
        elif not (left / name).exists():
            comparisons += [] if published else [Comparison(name, (), parts=[Part("table", (name,), Verdict.NEW)])]
        else:
            comparisons.append(_compare_files(name, left / name, right / name, keys, published))
    return comparisons


def _tables(folder: Path, of: Path) -> set[str]:
    """Name the tables in a folder, and in its folders as far as another has them."""
    suites = [path for path in of.iterdir() if path.is_dir()]
    files = [file for suite in suites for file in (folder / suite.name).glob("*.csv")]
    return {file.relative_to(folder).as_posix() for file in [*files, *folder.glob("*.csv")]}


def _compare_files(name: str, left: Path, right: Path, keys: Sequence[str], published: Judge | None) -> Comparison:
    tables = {side: read_table(path) for side, path in (("left", left), ("right", right))}
    found = keys_of(left, tables["left"], tables["right"], keys)
    for path, table in ((left, tables["left"]), (right, tables["right"])):
        _check_keys(path, table, found)
    if found == CLAIM_KEYS and not published:
        ours = MadeOf.beside(right)
        if ours is None or not same_data(MadeOf.beside(left), ours.digests):
            return Comparison(name, found, parts=[Part("table", (name,), Verdict.OTHER_DATA)])
    return compare_frames(name, tables["left"], tables["right"], found, published, left.parent.name)


def compared_fingerprints(left: Path, right: Path) -> tuple[Fingerprint, Fingerprint]:
    """Return the fingerprints of what `compare` takes from two paths: a table each, or tables, perhaps none."""
    if not left.is_dir():
        return of_table(read_table(left)), of_table(read_table(right))
    return _of_tables(left, left), _of_tables(right, left)


def _of_tables(folder: Path, of: Path) -> Fingerprint:
    """Return the fingerprint of a folder without what is not compared."""
    parts: dict[str, dict[str, Fingerprint]] = {}
    for name in _tables(folder, of):
        suite, _, file = name.rpartition("/")
        parts.setdefault(suite, {})[file] = of_table(read_table(folder / name))
    return of_parts(parts.pop("", {}) | {suite: of_parts(tables) for suite, tables in parts.items()})


def keys_of(path: Path, left: pd.DataFrame, right: pd.DataFrame, given: Sequence[str] = ()) -> tuple[str, ...]:
    """Name the columns that name a row of two tables: those given, those known of the table, or leading text.

    Raises
    ------
    XmlcError
        It is not clear which these are.
    """
    if given:
        return tuple(given)
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
        raise XmlcError(f"{path}: the columns that name a row are unclear; expected text in front, or give --keys")
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
    result.parts += [Part("column", (c,), gone) for c in every if c not in right]
    result.parts += [Part("column", (c,), Verdict.NEW) for c in every if c not in left and not published]
    sides = [
        frame.set_index(list(keys), drop=False).add_prefix(side).assign(**{f"place {side}": range(len(frame))})
        for side, frame in (("left ", left), ("right ", right))
    ]
    merged = sides[0].join(sides[1], how="outer").sort_values(["place left ", "place right "])
    for index, row in merged.iterrows():
        key = index if isinstance(index, tuple) else (index,)
        if pd.isna(row["place right "]):
            result.parts.append(Part("row", key, gone))
        if pd.isna(row["place left "]) and not published:
            result.parts.append(Part("row", key, Verdict.NEW))
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
        found = Found(ours[name], int(ours["seeds"] or 1), ours[name + DEVIATION])
        judgement = self.judge.judge(self.definition, Place(self.paper, self.name, key, name), self.printed, found)
        kind = kind_of(name, self.definition, dict(zip(self.keys, key)).get("model"))
        right = "" if pd.isna(texts[name]) else str(texts[name])
        return Cell(key, name, left, right, judgement or Judgement(Verdict.EQUAL), judgement is not None, kind)
