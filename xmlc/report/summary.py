"""A comparison told: what moved, as text for a terminal and as Markdown for a pull request."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from tabulate import tabulate

from xmlc.numbers.columns import column
from xmlc.numbers.fingerprint import Fingerprint
from xmlc.report.compare import Cell, Comparison, published_lines
from xmlc.report.verdict import Verdict, equal_line

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


def _parts(comparisons: Sequence[Comparison]) -> list[str]:
    parts = Counter((part.kind, part.verdict) for comparison in comparisons for part in comparison.parts)
    return [f"{count} {kind}{'s' * (count > 1)} {verdict}" for (kind, verdict), count in parts.items()]
