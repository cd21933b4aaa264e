"""Compare tables with each other or with a paper's, cell by cell, and replace reference tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from tabulate import tabulate

from xmlc.core.errors import XmlcError
from xmlc.core.files import write_text
from xmlc.suite.files import similar_path
from xmlc.suite.papers import rooms, table_of, tables_of
from xmlc.suite.papers.claims import CLAIMS
from xmlc.suite.papers.printing import escaped
from xmlc.suite.report.verdicts import BETWEEN, NO_CHANCE, Judge, NumberKind, judged
from xmlc.suite.results.columns import MISSING, column
from xmlc.suite.results.fingerprint import Fingerprint, canonical, fingerprint, of_parts, read_table
from xmlc.suite.results.intervals import student_quantile
from xmlc.suite.results.manifest import Manifest, by_number
from xmlc.suite.results.numbers import as_floats, index_of, read_cells, read_published
from xmlc.suite.results.settings import settings_line
from xmlc.suite.results.verdicts import Verdict

# The main results of papers and studies.
HEADLINES = ("p@1", "instance_f", "macro_f", "macro_f_present", "accuracy")
SIDES = (Verdict.ABOVE, Verdict.BELOW)
LISTED = 20  # Cells that the text lists, unless it lists all
LIMIT = 60_000  # Characters of Markdown. GitHub allows 65,536 in a comment.
ROW = ""  # The quantity of a cell that each row has, so that rows of costs alone are compared, too
CELL = (
    "table",
    "dataset",
    "model",
    "row",
    "column",
    "old",
    "new",
    "verdict",
    "kind",
    "reason",
    "fitted",
)


class Comparison(NamedTuple):
    """The comparison of two sides, which are tables of xmlc or a paper.

    ``cells`` has one row for each cell, and one without a column for a table or row that only one
    side has. ``old`` and ``new`` are texts as in the files, ``verdict`` is "" for costs, and
    ``variation`` is how far another choice of seeds moves them, or NaN. For a paper's numbers it is
    the interval, and ``kind``, ``reason`` and ``fitted`` are fields of
    `xmlc.suite.report.verdicts.Judgement`. ``head`` summarises fingerprints, verdicts and differing
    settings.
    """

    cells: pd.DataFrame
    head: list[str]


def compare(
    left: Path, right: Path, judge: Judge | None = None, tolerance: float = 0.0
) -> Comparison:
    """Compare two CSV tables, or two folders of tables file by file.

    The left side is expected: published values, a reference, or an earlier run. Both may have one
    folder of tables for each suite, of which only those on the left are compared. Costs are left
    out, and tables of claims, whose rows name no dataset, are compared only if both sides are known
    to use the same data.

    Two of our numbers are equal if they differ by at most ``tolerance``, so 0 requires equal bits.
    But if the left side is a paper's, each number needs an interval of the ``judge``, and the right
    side may have more numbers.
    """
    for path in (left, right):
        if not path.exists():
            raise XmlcError(f"{path}: found no such table or folder of tables{similar_path(path)}")
    if left.is_dir() != right.is_dir():
        raise XmlcError(
            f"{left} and {right}: found a folder and a file, expected two folders or files"
        )
    names = [""]
    if left.is_dir():
        names = _tables(left, right)
    if not names:
        raise XmlcError(f"{left} and {right}: found no table (*.csv) in either")
    frames = [pd.DataFrame(columns=[*CELL, "variation"])]
    settings = []
    for name in names:
        old = left / name
        new = right / name
        if judge and not old.exists():
            continue
        made_old = Manifest.beside(old)
        made_new = Manifest.beside(new)
        settings.append((getattr(made_old, "settings", {}), getattr(made_new, "settings", {})))
        made = made_old or made_new or Manifest(old.stem, old.parent.name, ())
        table = (name or left.name).removesuffix(".csv")
        same_data = made_old and made_new and made_old.digests == made_new.digests != {}
        verdict = None
        if not judge and not new.exists():
            verdict = Verdict.MISSING
        elif not judge and not old.exists():
            verdict = Verdict.NEW
        elif not judge and made.table == CLAIMS and not same_data:
            verdict = Verdict.OTHER_DATA
        if verdict:
            frames.append(pd.DataFrame([{"table": table, "verdict": verdict}]))
            continue
        spec = table_of(made.table, made.paper)
        keys = list(spec.keys)
        if judge:
            means = read_cells(new, keys) if new.exists() else None
            cells = judged(made.paper, spec, means, read_published(old, keys), judge)
            cells = cells.rename(
                columns={"published": "old", "value": "new", "interval": "variation"}
            )
        else:
            cells = compare_cells(keys, read_cells(old, keys), read_cells(new, keys), tolerance)
        rows = [BETWEEN.join(key) for key in cells[keys].itertuples(index=False, name=None)]
        frames.append(cells.assign(table=table, row=rows, column=cells["quantity"]))
    cells = pd.concat(frames, ignore_index=True).reindex(columns=[*CELL, "variation"])
    cells = cells.astype({"variation": float}).fillna(dict.fromkeys(CELL, ""))
    if judge:
        return Comparison(cells, published_lines(cells))
    before = _fingerprint(left, names)
    after = _fingerprint(right, names)
    line = f"Fingerprints differ: old {before.word}, new {after.word}"
    if before == after:
        line = f"Same fingerprint, {after.word}: all numbers except costs are equal"
    return Comparison(
        cells, [line, _counts(cells) or "no cells to compare", settings_line(settings)]
    )


def compare_cells(
    keys: Sequence[str], left: pd.DataFrame, right: pd.DataFrame, tolerance: float = 0.0
) -> pd.DataFrame:
    """Compare the cells of two of our tables (`read_cells`) by their keys.

    Texts must be equal, while blank cells and NaN are missing. The variation of a number that moved
    is estimated from the side with more seeds.
    """
    keys = list(keys)
    sides = []
    for side in (left, right):
        rows = side.drop_duplicates(keys).assign(quantity=ROW, value="")
        is_cost = side["quantity"].map(lambda name: column(name).cost).astype(bool)
        sides.append(pd.concat([rows, side[~is_cost]]))
    cells = sides[0].merge(
        sides[1], "outer", [*keys, "quantity"], suffixes=("_old", "_new"), indicator="side"
    )
    cells = cells.rename(columns={"value_old": "old", "value_new": "new"}).fillna(
        {"old": "", "new": ""}
    )
    old = cells["old"].map(canonical)
    new = cells["new"].map(canonical)
    difference = as_floats(cells["new"]) - as_floats(cells["old"])
    verdicts = {
        Verdict.MISSING: (cells["side"] == "left_only") | ((new == "") & (old != "")),
        Verdict.NEW: (cells["side"] == "right_only") | ((old == "") & (new != "")),
        Verdict.EQUAL: (old == new) | (difference.abs() <= tolerance),
        Verdict.ABOVE: difference > 0,
        Verdict.BELOW: difference < 0,
    }
    cells["verdict"] = np.select([*verdicts.values()], [*verdicts], Verdict.CHANGED)
    old_seeds = cells["seeds_old"].fillna(1)
    new_seeds = cells["seeds_new"].fillna(1)
    freedom = np.maximum(old_seeds, new_seeds) - 1
    deviation = cells["deviation_new"].where(new_seeds > old_seeds, cells["deviation_old"])
    variance = deviation * deviation * (1 / new_seeds + 1 / old_seeds)
    has_moved = cells["verdict"].isin(SIDES) & (freedom > 0)
    cells["variation"] = freedom[has_moved].map(student_quantile) * np.sqrt(variance)
    # A row that only one side has is one cell.
    is_row = cells["quantity"] == ROW
    one_sided = index_of(cells[is_row & (cells["side"] != "both")], keys)
    return cells[is_row == index_of(cells, keys).isin(one_sided)]


def _tables(left: Path, right: Path) -> list[str]:
    """Return paths of the suites' tables, in the order of suites and of a paper, without suites
    that only the right side has.
    """
    defined = {spec.name for spec in chain(*map(tables_of, rooms()))}
    names = set()
    for side in (left, right):
        names |= {file.relative_to(side) for file in (*side.glob("*.csv"), *side.glob("*/*.csv"))}
    files = [file for file in names if file.stem in defined and (left / file.parent).is_dir()]
    return [
        file.as_posix()
        for file in sorted(files, key=lambda file: (file.parent, by_number(file.stem)))
    ]


def _fingerprint(side: Path, names: Sequence[str]) -> Fingerprint:
    if not side.is_dir():
        return fingerprint(side)
    suites: dict[str, dict[str, Fingerprint]] = {"": {}}
    for name in names:
        if (side / name).exists():
            suite, _, table = name.rpartition("/")
            suites.setdefault(suite, {})[table] = fingerprint(side / name)
    return of_parts(suites.pop("") | {suite: of_parts(tables) for suite, tables in suites.items()})


def _counts(cells: pd.DataFrame) -> str:
    counts = cells["verdict"].value_counts()
    return ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in Verdict if verdict in counts)


def published_lines(cells: pd.DataFrame) -> list[str]:
    """Return a line of verdicts for each kind of published numbers, measured ones first and other
    kinds only if we reran any.
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
        lines.insert(
            1, f"{fitted} of these agree by settings that were fitted to published results"
        )
    return lines


def count_outcomes(cells: pd.DataFrame) -> dict[str, Any]:
    """Return counts of the numbers that papers measured, by the headings of a table.

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
        "not run": len(published) - len(run),
    }


def listing(cells: pd.DataFrame, is_published: bool) -> pd.DataFrame:
    """Return the texts of the cells that differ between two runs, or of a paper's numbers.

    The largest moves of headline quantities come first, each once, and then moves within the
    variation over seeds. For a paper, measured numbers farthest outside their intervals come first,
    and then those without chance variation.
    """
    difference = as_floats(cells["new"]) - as_floats(cells["old"])
    size = difference.abs()
    is_noise = (size <= cells["variation"]) | (cells["reason"] == NO_CHANCE)
    if is_published:
        is_listed = cells["verdict"] != ""
        is_headline = cells["kind"] == NumberKind.MEASURED
        size = size / cells["variation"]
    else:
        is_listed = cells["verdict"] != Verdict.EQUAL
        is_again = cells.duplicated(["dataset", "model", "old", "new"])
        is_headline = cells["column"].isin(HEADLINES) & ~is_again
    is_first = is_headline & cells["verdict"].isin(SIDES)
    is_missing = cells["verdict"] == Verdict.NOT_RUN
    rank = pd.DataFrame(
        {"last": ~is_first, "missing": is_missing, "noise": is_noise, "size": -size}
    )
    order = rank[is_listed].sort_values(list(rank), kind="stable").index
    table = cells.assign(difference=difference).loc[order]
    rows = []
    for cell in table.to_dict("records"):
        variation = "" if math.isnan(cell["variation"]) else f"± {cell['variation']:.2g}"
        texts = _texts(cell["old"], cell["new"], cell["difference"])
        rows.append(
            [
                cell["table"],
                cell["row"],
                cell["column"],
                *texts,
                cell["verdict"],
                variation,
                cell["kind"],
            ]
        )
    if is_published:
        named = ["published", "xmlc", "difference", "verdict", "interval", "kind"]
    else:
        rows = [row[:-1] for row in rows]
        named = ["old", "new", "difference", "verdict", "variation over seeds"]
    return pd.DataFrame(rows, columns=["table", "row", "column", *named])


def _texts(old: str, new: str, difference: float) -> list[str]:
    if not math.isfinite(difference):
        return [old or MISSING, new or MISSING, ""]
    moved = f"{difference:+.2f}"
    if abs(difference) < 0.005:
        moved = f"{difference:+.2g}"
    rounded = [f"{float(text):.2f}" for text in (old, new)]
    if rounded[0] == rounded[1]:
        return [old, new, moved]
    return [min(old, rounded[0], key=len), min(new, rounded[1], key=len), moved]


def to_text(head: Sequence[str], table: pd.DataFrame, listed: int) -> str:
    """Return a comparison as text, with the first rows of its table."""
    text = "\n".join(head) + "\n"
    rows = table[:listed].to_numpy().tolist()
    if rows:
        lines = tabulate(rows, list(table), "plain", disable_numparse=True).splitlines()
        text += "\n" + "".join(f"{line.rstrip()}\n" for line in lines)
    if len(rows) < len(table):
        text += f"\n{len(table) - len(rows):,} more (use --all to list each cell)\n"
    return text


def to_markdown(head: Sequence[str], table: pd.DataFrame) -> str:
    """Return a comparison as Markdown of at most `LIMIT` characters and a note."""
    text = "".join(f"- {escaped(line)}\n" for line in head) + "\n"
    if len(table):
        text += f"| {' | '.join(table)} |\n|{' --- |' * len(table.columns)}\n"
    for row in table.itertuples(index=False, name=None):
        text += f"| {' | '.join(map(escaped, row))} |\n"
    if len(text) <= LIMIT:
        return text
    return text[:LIMIT].rpartition("\n")[0] + f"\n\ncut off after {LIMIT:,} characters\n"


def accept(tables: Path, reference: Path) -> list[Path]:
    """Replace reference tables by the tables of a run, and return the written files.

    Both folders have ``<suite>/<table>.csv``, and suites without a folder in ``reference`` are
    skipped. Costs are left out, so that a diff shows only changed results, but the data and
    settings of claims go into a file next to the table.
    """
    written = []
    for file in sorted(tables.glob("*/*.csv")):
        old = reference / file.parent.name / file.name
        if old.parent.is_dir():
            table = read_table(file)
            kept = table[[name for name in table if not column(name).cost]]
            write_text(old, kept.to_csv(index=False, lineterminator="\n"))
            written.append(old)
            manifest = Manifest.beside(file)
            if manifest and manifest.digests:
                replace(manifest, records=()).write(old.with_suffix(""))
    if not written:
        raise XmlcError(
            f"{tables}: found no table of a suite with a folder in {reference}. Run a suite "
            "first, or create its folder"
        )
    return written
