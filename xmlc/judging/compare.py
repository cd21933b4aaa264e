"""Two tables, cell by cell: joined on their keys, each difference judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pandas as pd

from xmlc.errors import XmlcError
from xmlc.judging.tolerances import Tolerances
from xmlc.judging.verdict import Judgement, Verdict, judge_exactly, judge_published, number
from xmlc.papers import every_table
from xmlc.tables.columns import column
from xmlc.tables.fingerprint import Fingerprint, of_parts, of_table, read_table


@dataclass(frozen=True)
class Cell:
    """One cell of both tables; ``left`` and ``right`` are text as it stands in the files, "" where there is none."""

    key: tuple[str, ...]
    column: str
    left: str
    right: str
    judgement: Judgement
    judged: bool

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
    """

    name: str
    keys: tuple[str, ...]
    cells: list[Cell] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    @property
    def counts(self) -> Counter[Verdict]:
        """Count the judged cells by verdict."""
        return Counter(cell.verdict for cell in self.cells if cell.judged)

    @property
    def same(self) -> bool:
        """Say whether nothing is outside, different, missing, new or not run."""
        good = self.counts[Verdict.EQUAL] + self.counts[Verdict.WITHIN]
        return not self.parts and good == self.counts.total()


def compare(left: Path, right: Path, keys: Sequence[str] = (), published: Tolerances | None = None) -> list[Comparison]:
    """Compare two CSV tables, or two folders of them file by file.

    Folders may hold suites, which are folders of tables; those are compared that the left one has. Two tables of ours
    are compared exactly: each number to the last bit. Costs are not judged, and it does not matter whether both sides
    have them.

    Parameters
    ----------
    left : Path
        What is expected: published values, a reference, or an earlier run.
    right : Path
        What is judged.
    keys : sequence of str
        Columns that name a row; by default those that the table is known to have, or the leading columns of text.
    published : Tolerances or None
        The left side was printed in a paper, and so much is tolerated: each number is as exact as its own digits,
        seeds were others, and what only the right side has is no difference.

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
            comparisons.append(Comparison(name, (), parts=[Part("table", (name,), verdict)]))
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


def _compare_files(name: str, left: Path, right: Path, keys: Sequence[str], published: Tolerances | None) -> Comparison:
    tables = {side: read_table(path) for side, path in (("left", left), ("right", right))}
    found = keys_of(left, tables["left"], tables["right"], keys)
    for path, table in ((left, tables["left"]), (right, tables["right"])):
        _check_keys(path, table, found)
    return compare_frames(name, tables["left"], tables["right"], found, published)


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
    published: Tolerances | None = None,
) -> Comparison:
    """Compare two frames of text on their keys; the rows come in the order of the left one."""
    result = Comparison(name, keys)
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
        named = dict(zip(keys, key, strict=True))
        for c in every:
            texts = [row.get(f"{side} {c}", "") for side in ("left", "right")]
            left_text, right_text = ("" if pd.isna(text) else text for text in texts)
            if published and number(left_text) is None:
                continue
            # Where one side has no such row or column, a blank on the other side is no cell.
            in_both = c in left and c in right and row[["place left ", "place right "]].notna().all()
            if left_text or right_text or in_both:
                result.cells.append(_cell(key, c, left_text, right_text, named, published))
    return result


def _cell(
    key: tuple[str, ...], name: str, left: str, right: str, named: dict[str, str], published: Tolerances | None
) -> Cell:
    if published is None:
        return Cell(key, name, left, right, judge_exactly(left, right), judged=not column(name).cost)
    model, dataset = named.get("model"), named.get("dataset")
    judgement = judge_published(left, number(right), name, published, model, dataset)
    return Cell(key, name, left, right, judgement or Judgement(Verdict.EQUAL), judged=judgement is not None)
