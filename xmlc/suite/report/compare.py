"""Compare our tables with each other or with a paper's, cell by cell. Replace reference tables."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from tabulate import tabulate

from xmlc.core.errors import XmlcError, nearest
from xmlc.core.files import similar_path, write_text
from xmlc.suite.papers import every_table, table_of
from xmlc.suite.papers.claims_table import CLAIMS
from xmlc.suite.papers.printing import escaped
from xmlc.suite.report.changes import TablePair, settings_line
from xmlc.suite.report.verdicts import (
    EXACT,
    NO_CHANCE,
    Judge,
    NumberKind,
    PublishedKey,
    Spread,
    Tolerance,
    half_width,
    judge_exactly,
    judged,
    spread_of,
)
from xmlc.suite.results.columns import MISSING, column
from xmlc.suite.results.fingerprint import Fingerprint, of_parts, of_table, read_table
from xmlc.suite.results.manifest import Manifest, by_number, same_data
from xmlc.suite.results.numbers import SEEDS, Key, as_floats, read_cells, read_published
from xmlc.suite.results.verdicts import Verdict

# Quantities that are the main results of the papers and of studies.
HEADLINES = ("p@1", "macro_f", "macro_f_present", "instance_f", "accuracy")
SIDES = (Verdict.ABOVE, Verdict.BELOW)
LISTED = 20  # Number of cells that the text lists, unless it lists all.
LIMIT = 60_000  # The maximum number of characters of Markdown. GitHub allows 65,536 in a comment.
LONGEST_LINE = 2_000  # The maximum number of characters of a line before the table.
WIDEST = 100  # The maximum number of characters in a cell of Markdown.
TEXTS = (
    *("table", "part", "dataset", "model", "row", "column", "old", "new"),
    *("verdict", "kind", "reason", "fitted"),
)
# The columns of a comparison, with their types.
CELL: dict[str, Any] = dict.fromkeys(TEXTS, object) | {"variation": float}


class Comparison(NamedTuple):
    """The comparison of two sides, which are tables of xmlc or a paper.

    Attributes
    ----------
    cells : DataFrame
        One row for each cell of both sides, and for each row, column or table that only one side
        has. The column ``part`` tells which of these it is. ``old`` and ``new`` are texts as in the
        files, and ``verdict`` is "" for costs. ``variation`` is how far a cell moves by another
        choice of seeds, or NaN. If the old side is a paper, ``variation`` is the interval of the
        published number, and ``kind``, ``reason`` and ``fitted`` are fields of
        `xmlc.suite.report.verdicts.Judgement`.
    settings : list of (RecordedSettings, RecordedSettings)
        The settings of each table on both sides, which are empty if they are not known.
    fingerprints : tuple of Fingerprint
        The fingerprints of the compared tables of both sides.
    """

    cells: pd.DataFrame
    settings: list[TablePair]
    fingerprints: tuple[Fingerprint, Fingerprint]


def compare(
    left: Path,
    right: Path,
    judge: Judge | None = None,
    tolerance: Tolerance = EXACT,
    columns: Collection[str] = (),
    runs: Mapping[PublishedKey, Spread] = MappingProxyType({}),
) -> Comparison:
    """Compare two CSV tables, or two folders of tables file by file.

    Folders may contain one folder of tables for each suite. Only suites in the left folder are
    compared. Without a tolerance, equal numbers of our own tables are bit-identical. Columns of
    costs are not compared. Tables of claims, whose rows name no dataset, are compared only if both
    sides are known to use the same data.

    Parameters
    ----------
    left : Path
        The expected tables: published values, a reference, or an earlier run.
    right : Path
        The tables to judge.
    judge : Judge or None
        A judge is required if the left side has a paper's tables. The judge computes an interval
        for each published number, and the right side may contain numbers that the left side lacks.
    tolerance : Tolerance
        The largest difference at which two of our numbers count as equal.
    columns : collection of str
        Columns to compare. An empty collection selects all columns.
    runs : mapping
        The variation of our numbers over runs with several seeds. A key is the place of a number:
        paper, table, row and column.

    Raises
    ------
    XmlcError
        A path does not exist, or a file is not a table of a suite. A table lacks a column with
        keys, or two of its rows have the same keys. A column in ``columns`` is in no table.
    """
    for path in (left, right):
        if not path.exists():
            raise XmlcError(f"{path}: found no such table or folder of tables{similar_path(path)}")
    if left.is_dir() != right.is_dir():
        raise XmlcError(f"{left} and {right}: found a folder and a file, expected two folders or files")
    names = [""]
    if left.is_dir():
        names = _tables(left, right)
    if not names:
        raise XmlcError(f"{left} and {right}: found no table (*.csv) in either")
    frames = [_of_table("", pd.DataFrame())]
    settings = []
    for name in names:
        old = left / name
        new = right / name
        table = (name or left.name).removesuffix(".csv")
        if judge and not old.exists():
            continue
        if not judge and not (old.exists() and new.exists()):
            if old.exists():
                verdict = Verdict.MISSING
            else:
                verdict = Verdict.NEW
            frames.append(_of_table(table, pd.DataFrame([{"part": "table", "verdict": verdict}])))
            continue
        made_old = Manifest.beside(old)
        made_new = Manifest.beside(new)
        made = made_old or made_new or Manifest(old.stem, old.parent.name, ())
        try:
            spec = table_of(made.table, made.paper)
        except XmlcError as error:
            raise XmlcError(f"{old}: {error}. The name of the folder must be the name of the suite") from error
        if judge:
            before = read_published(old, spec.keys)
        else:
            before = read_cells(old, spec.keys, deviations=True)
        if new.exists():
            after = read_cells(new, spec.keys, deviations=not judge)
        else:
            after = before.iloc[:0]
        if judge:
            cells = judged(made.paper, spec, after, before, judge)
            renamed = {"published": "old", "value": "new", "interval": "variation"}
            cells = cells.rename(columns=renamed)
            cells = cells.assign(part="cell", row=_rows(cells, spec.keys), column=cells["quantity"])
        elif spec.name == CLAIMS and not (made_new and same_data(made_old, made_new.digests)):
            cells = pd.DataFrame([{"part": "table", "verdict": Verdict.OTHER_DATA}])
        else:
            place = (made.paper, old.stem)
            spreads = {at[2:]: spread for at, spread in runs.items() if at[:2] == place}
            cells = compare_cells(spec.keys, before, after, tolerance, spreads)
        frames.append(_of_table(table, cells))
        settings.append((getattr(made_old, "settings", {}), getattr(made_new, "settings", {})))
    cells = pd.concat(frames, ignore_index=True)
    known = [name for name in cells["column"].unique() if name]
    unknown = [name for name in columns if name not in known]
    if unknown:
        expected = nearest(unknown[0], known) or "none, as there are no cells"
        raise XmlcError(f"--columns: found no column {unknown[0]!r} to compare, expected {expected}")
    if columns:
        cells = cells[cells["column"].isin(columns) | cells["part"].isin(["row", "table"])]
    return Comparison(cells, settings, (_fingerprint(left, names), _fingerprint(right, names)))


def _of_table(table: str, cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells with all columns of a comparison, in which texts that do not apply are ""."""
    cells = cells.assign(table=table).reindex(columns=[*CELL]).astype(CELL)
    return cells.fillna(dict.fromkeys(TEXTS, ""))


def _rows(cells: pd.DataFrame, keys: Sequence[str]) -> list[str]:
    return [" / ".join(key) for key in cells[list(keys)].itertuples(index=False, name=None)]


def compare_cells(
    keys: Sequence[str],
    left: pd.DataFrame,
    right: pd.DataFrame,
    tolerance: Tolerance = EXACT,
    spreads: Mapping[tuple[Key, str], Spread] = MappingProxyType({}),
) -> pd.DataFrame:
    """Compare the cells of two of our tables, with those of deviations (`read_cells`), by their keys.

    The columns of the result are those of `Comparison.cells`. The variation of a number that moved
    is estimated from the side with more seeds, or is taken from ``spreads`` if neither side has
    several seeds.
    """
    keys = list(keys)
    sides = [side.assign(place=range(len(side))) for side in (left, right)]
    cells = sides[0].merge(sides[1], how="outer", on=[*keys, "quantity"], suffixes=("_old", "_new"))
    cells = cells.sort_values(["place_old", "place_new"], kind="stable", ignore_index=True)
    cells = cells.rename(columns={"value_old": "old", "value_new": "new"})
    cells = cells.fillna({"old": "", "new": ""})
    pairs = zip(cells["old"], cells["new"], strict=True)
    verdicts = [judge_exactly(old, new, tolerance) for old, new in pairs]
    cells["verdict"] = pd.Series(verdicts, dtype=object)
    cells["variation"] = [_variation(cell, keys, spreads) for cell in cells.to_dict("records")]
    cells = cells.assign(part="cell", row=_rows(cells, keys), column=cells["quantity"])
    for verdict, place in ((Verdict.NEW, "place_old"), (Verdict.MISSING, "place_new")):
        no_row = cells.groupby(keys)[place].transform("count") == 0
        no_column = cells.groupby("quantity")[place].transform("count") == 0
        cells.loc[no_row | no_column, ["old", "new", "verdict"]] = ["", "", verdict]
        cells.loc[no_row, ["part", "column"]] = ["row", ""]
        cells.loc[no_column & ~no_row, ["part", "row"]] = ["column", ""]
    # Texts of rows may be equal for different keys.
    is_again = (cells["part"] == "row") & cells.duplicated(keys)
    is_again |= (cells["part"] == "column") & cells.duplicated(["part", "column"])
    is_cost = cells["column"].map(lambda name: column(name).cost).astype(bool)
    return cells[~is_again & ~is_cost]


def _variation(cell: Mapping[str, Any], keys: Sequence[str], spreads: Mapping[tuple[Key, str], Spread]) -> float:
    """Return how far a number moves by another choice of seeds, or NaN if it is equal or unknown."""
    known = [spread_of(cell[f"deviation_{side}"], cell[f"{SEEDS}_{side}"]) for side in ("old", "new")]
    place = tuple(cell[key] for key in keys), cell["quantity"]
    spread = max(filter(None, known), key=lambda spread: spread.runs, default=spreads.get(place))
    if cell["verdict"] not in SIDES or not spread:
        return math.nan
    ours, theirs = (int(np.nan_to_num(cell[f"{SEEDS}_{side}"], nan=1)) for side in ("new", "old"))
    return half_width(spread, 0.0, ours, theirs)[0]


def _tables(left: Path, right: Path) -> list[str]:
    """Return the names of the tables on either side, in the order of suites and of tables in a paper.

    A subfolder of the left side is a suite if it has a table that a suite defines, or no tables.
    """
    defined = {spec.name for _, spec in every_table()}
    names = set()
    for suite in (left, *left.iterdir()):
        tables = {file.stem for file in suite.glob("*.csv")}
        if suite == left or (suite.is_dir() and (not tables or tables & defined)):
            for side in (left, right):
                files = (side / suite.relative_to(left)).glob("*.csv")
                names |= {file.relative_to(side) for file in files}
    ordered = sorted(names, key=lambda file: (file.parent, by_number(file.stem)))
    return [file.as_posix() for file in ordered]


def _fingerprint(side: Path, names: Sequence[str]) -> Fingerprint:
    """Return the fingerprint of a table, or of a folder's tables with these names."""
    if not side.is_dir():
        return of_table(read_table(side))
    suites: dict[Path, dict[str, Fingerprint]] = {}
    for file in map(Path, names):
        if (side / file).exists():
            suites.setdefault(file.parent, {})[file.name] = of_table(read_table(side / file))
    whole = suites.pop(Path(), {})
    for suite, tables in suites.items():
        whole[suite.name] = of_parts(tables)
    return of_parts(whole)


def first_lines(comparison: Comparison, is_published: bool) -> list[str]:
    """Return the fingerprints, counts of verdicts, and settings that differ, or a paper's counts."""
    if is_published:
        return published_lines(comparison.cells)
    old, new = comparison.fingerprints
    line = f"Fingerprints differ: old {old.word}, new {new.word}"
    if old == new:
        line = f"Same fingerprint, {new.word}: all numbers except costs are equal"
    return [line, counts_line(comparison.cells), settings_line(comparison.settings)]


def counts_line(cells: pd.DataFrame) -> str:
    """Return one line with the number of cells, rows, columns and tables for each verdict."""
    texts = []
    for part, own in cells[cells["verdict"] != ""].groupby("part", sort=False):
        texts.append(f"{part}s: {_counts(own)}")
    return "; ".join(texts) or "no cells to compare"


def _counts(cells: pd.DataFrame) -> str:
    counts = cells["verdict"].value_counts()
    return ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in Verdict if verdict in counts)


def published_lines(cells: pd.DataFrame) -> list[str]:
    """Return a line for each kind of published numbers that counts their verdicts, measured numbers first.

    Numbers of another kind are counted only if we reran at least one of them.
    """
    lines = []
    for kind in NumberKind:
        own = cells[(cells["kind"] == kind) & (cells["verdict"] != "")]
        run = own[own["verdict"] != Verdict.NOT_RUN]
        if len(run) or (kind is NumberKind.MEASURED and len(own)):
            datasets = f"{run['dataset'].nunique()} of {own['dataset'].nunique()} datasets"
            line = f"{kind}: {len(run)} of {len(own)} run again, on {datasets}: {_counts(run)}"
            lines.append(line.removesuffix(": "))
    fitted = count_outcomes(cells)["agree, fitted"]
    if fitted:
        lines.insert(1, f"{fitted} of these agree by settings that were fitted to published results")
    return lines


def count_outcomes(cells: pd.DataFrame) -> dict[str, Any]:
    """Count the outcomes of numbers that papers measured. Return a table row as a dict from headings to cells.

    A number is reproduced if it is equal to the published number or inside its interval. If its
    settings were fitted to published results, it agrees with the published number, but is not
    reproduced.
    """
    published = cells[(cells["kind"] == NumberKind.MEASURED) & (cells["verdict"] != "")]
    run = published[published["verdict"] != Verdict.NOT_RUN]
    agreeing = run[run["verdict"].isin([Verdict.EQUAL, Verdict.INSIDE])]
    fitted = agreeing[agreeing["fitted"] != ""]
    return {
        "datasets run": f"{run['dataset'].nunique()} of {published['dataset'].nunique()}",
        "published": len(published),
        "run": len(run),
        "reproduced": len(agreeing) - len(fitted),
        "agree, fitted": len(fitted),
        "differ": len(run[run["verdict"].isin(SIDES)]),
        "undecided": len(run[run["verdict"] == Verdict.UNDECIDED]),
    }


def listing(cells: pd.DataFrame, is_published: bool) -> pd.DataFrame:
    """Return the texts of the cells, rows, columns and tables that differ between two runs, or of a paper's numbers.

    The columns are the headings. The largest moves of headline quantities come first, each in one
    table only, and after them moves within the variation over seeds. Of a paper, the measured
    numbers farthest outside their intervals come first, and after them numbers without chance
    variation.
    """
    by = as_floats(cells["new"]) - as_floats(cells["old"])
    size = by.abs()
    is_noise = (size <= cells["variation"]) | (cells["reason"] == NO_CHANCE)
    if is_published:
        is_listed = cells["verdict"] != ""
        is_first = cells["kind"] == NumberKind.MEASURED
        size = size / cells["variation"]
    else:
        is_listed = cells["verdict"] != Verdict.EQUAL
        is_first = cells["column"].isin(HEADLINES)
        is_first &= ~cells.duplicated(["dataset", "model", "old", "new"])
    is_first &= cells["verdict"].isin(SIDES)
    rank = pd.DataFrame({"last": ~is_first, "noise": is_noise & is_first})
    rank["size"] = -size.where(is_first, 0)
    rank["not run"] = cells["verdict"] == Verdict.NOT_RUN
    order = rank[is_listed].sort_values(list(rank), kind="stable").index
    variation = cells["variation"].map(lambda width: "" if math.isnan(width) else f"± {width:.2g}")
    table = cells.assign(difference=by, variation=variation).loc[order]
    moves = ["old", "new", "difference"]
    texts = [_texts(*cell) for cell in table[moves].itertuples(index=False, name=None)]
    table[moves] = pd.DataFrame(texts, columns=moves, index=order)
    shown = ["table", "row", "column", "old", "new", "difference", "verdict", "variation"]
    if is_published:
        headings = {"old": "published", "new": "xmlc", "variation": "interval"}
        return table[[*shown, "kind"]].rename(columns=headings)
    return table[shown].rename(columns={"variation": "variation over seeds"})


def _texts(old: str, new: str, difference: float) -> tuple[str, str, str]:
    """Return both values and their difference with few decimals, or more if they look equal."""
    if not math.isfinite(difference):
        return old or MISSING, new or MISSING, ""
    digits = "2g"
    if abs(difference) >= 0.005:
        digits = "2f"
    rounded = [f"{float(text):.2f}" for text in (old, new)]
    if rounded[0] != rounded[1]:
        old = min(old, rounded[0], key=len)
        new = min(new, rounded[1], key=len)
    return old, new, f"{difference:+.{digits}}"


def to_text(head: Sequence[str], table: pd.DataFrame, every_cell: bool) -> str:
    """Return a comparison as text: its first lines, and the first rows of its table, or all."""
    if every_cell:
        rows = table
    else:
        rows = table[:LISTED]
    lines = list(head)
    if len(rows):
        text = tabulate(rows.to_numpy().tolist(), list(table), "plain", disable_numparse=True)
        lines += ["", *(line.rstrip() for line in text.splitlines())]
    if len(rows) < len(table):
        lines += ["", f"{len(table) - len(rows):,} more (use --all to list each cell)"]
    return "\n".join(lines) + "\n"


def to_markdown(head: Sequence[str], table: pd.DataFrame, limit: int = LIMIT) -> str:
    """Return a comparison as Markdown of at most ``limit`` characters, and count omitted rows."""
    text = "".join(f"- {escaped(_clipped(line, LONGEST_LINE))}\n" for line in head)
    if len(table):
        text += f"\n| {' | '.join(table)} |\n|{' --- |' * len(table.columns)}\n"
    for place, row in enumerate(table.itertuples(index=False, name=None)):
        line = f"| {' | '.join(escaped(_clipped(cell, WIDEST)) for cell in row)} |\n"
        if len(text) + len(line) > limit - 50:
            return f"{text}\n{len(table) - place:,} more left out\n"
        text += line
    return text


def _clipped(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most - 3]} .."


def accept(tables: Path, reference: Path) -> list[tuple[Path, str]]:
    """Replace the reference tables by the tables of a run, without columns of costs.

    For claims, the data and settings of the run are written to a file next to the table. Costs are
    left out because they differ from run to run. Without costs, a diff of two versions of a
    reference table shows only changes of results.

    Parameters
    ----------
    tables : Path
        Folder with ``<suite>/<table>.csv`` for each table of the run.
    reference : Path
        Folder of reference tables with the same structure. Suites without a subfolder in
        ``reference`` are skipped.

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
    lines = []
    for file in made:
        old = reference / file.parent.name / file.name
        lines.append((old, counts_line(compare(old, file).cells) if old.exists() else "new table"))
        table = read_table(file)
        kept = table[[name for name in table if not column(name).cost]]
        write_text(old, kept.to_csv(index=False, lineterminator="\n"))
        manifest = Manifest.beside(file)
        if manifest and manifest.digests:
            replace(manifest, records=()).write(old.with_suffix(""))
    return lines
