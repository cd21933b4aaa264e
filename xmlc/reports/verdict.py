"""What a comparison says: the headline first, then what is outside, and the unchanged folded away."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from tabulate import tabulate

from xmlc.reports.columns import column
from xmlc.reports.compare import Cell, Comparison, Status

HEADINGS = ("left", "right", "difference", "allowed")


def headline(comparisons: Sequence[Comparison]) -> str:
    """Return the counts of all judged cells in one line; the total is of the left side, so new cells stand apart."""
    counts: Counter[Status] = sum((comparison.counts for comparison in comparisons), Counter())
    words = [f"{counts[Status.EQUAL]} of {counts.total() - counts[Status.NEW]} cells equal"]
    words += [f"{counts[status]} {status}" for status in Status if status is not Status.EQUAL]
    parts = Counter((part.kind, part.status) for comparison in comparisons for part in comparison.parts)
    words += [f"{count} {kind}{'s' * (count > 1)} {status}" for (kind, status), count in parts.items()]
    unjudged = sum(len(_cells_to_show(comparison, None)) for comparison in comparisons)
    return ", ".join(words) + (f"; {unjudged} shown without judgement" if unjudged else "")


def to_text(comparisons: Sequence[Comparison], title: str) -> str:
    """Return a comparison as plain text."""
    lines = [headline(comparisons), title]
    for comparison in comparisons:
        lines += ["", f"{comparison.name}: {headline([comparison])}"]
        lines += [f"  {line}" for line in _part_lines(comparison)]
        for status in (Status.OUTSIDE, Status.MISSING, Status.NEW, Status.WITHIN):
            if cells := _cells_to_show(comparison, status):
                lines += [f"  {status}:", _indented(_table(comparison, cells, "plain"))]
        if unjudged := _unjudged(comparison):
            lines += ["  without judgement:", _indented(tabulate(unjudged, tablefmt="plain", disable_numparse=True))]
        if equal := comparison.counts[Status.EQUAL]:
            lines.append(f"  {equal} equal cells not listed")
    return "\n".join(lines) + "\n"


def to_markdown(comparisons: Sequence[Comparison], title: str) -> str:
    """Return a comparison as Markdown; everything that needs no eye is folded."""
    lines = [f"**{headline(comparisons)}**", "", title]
    for comparison in comparisons:
        lines += ["", f"### {comparison.name}", "", headline([comparison])]
        if comparison.parts:
            lines += ["", *(f"- {line}" for line in _part_lines(comparison))]
        for status in (Status.OUTSIDE, Status.MISSING, Status.NEW):
            if cells := _cells_to_show(comparison, status):
                lines += ["", f"**{status}**", "", _table(comparison, cells, "pipe")]
        for title_of, cells in (
            (Status.WITHIN.value, _cells_to_show(comparison, Status.WITHIN)),
            ("without judgement", _cells_to_show(comparison, None)),
            (Status.EQUAL.value, _cells_to_show(comparison, Status.EQUAL)),
        ):
            if cells:
                summary = f"<details><summary>{len(cells)} {title_of}</summary>"
                lines += ["", summary, "", _table(comparison, cells, "pipe"), "", "</details>"]
    return "\n".join(lines) + "\n"


def _part_lines(comparison: Comparison) -> list[str]:
    """Return one line for each kind of part that only one side has."""
    named: dict[str, list[str]] = {}
    for part in comparison.parts:
        named.setdefault(f"{part.status} {part.kind}", []).append(" / ".join(part.name))
    return [f"{what}{'s' * (len(names) > 1)}: {', '.join(names)}" for what, names in named.items()]


def _cells_to_show(comparison: Comparison, status: Status | None) -> list[Cell]:
    """Return the judged cells of one status, or those without judgement.

    Cells of a row or column that only one side has are named with it and not again.
    """
    rows = {part.name for part in comparison.parts if part.kind == "row"}
    columns = {part.name[0] for part in comparison.parts if part.kind == "column"}
    cells = [cell for cell in comparison.cells if (cell.status if cell.judged else None) is status]
    return [cell for cell in cells if cell.key not in rows and cell.column not in columns]


def _table(comparison: Comparison, cells: Sequence[Cell], style: str) -> str:
    rows = [[*cell.key, cell.column, *_both(cell), *_difference(cell)] for cell in cells]
    return tabulate(rows, headers=[*comparison.keys, "column", *HEADINGS], tablefmt=style, disable_numparse=True)


def _both(cell: Cell) -> tuple[str, str]:
    """Return both values in six digits, or as they stand in the files where these would hide the difference."""
    if math.isnan(cell.difference):
        return cell.left or "–", cell.right or "–"
    left, right = f"{float(cell.left):.6g}", f"{float(cell.right):.6g}"
    return (left, right) if left != right or cell.left == cell.right else (cell.left, cell.right)


def _difference(cell: Cell) -> tuple[str, str]:
    if math.isnan(cell.difference):
        return "", ""
    return f"{cell.difference:+.3g}", f"{cell.allowed:.3g}" if cell.judged else ""


def _unjudged(comparison: Comparison) -> list[list[str]]:
    """Return one line for each column that is not judged: how the right side compares with the left."""
    lines = []
    unjudged = _cells_to_show(comparison, None)
    for name in dict.fromkeys(cell.column for cell in unjudged):
        cells = [cell for cell in unjudged if cell.column == name]
        numbers = [cell for cell in cells if not math.isnan(cell.difference)]
        ratios = [float(cell.right) / float(cell.left) for cell in numbers if float(cell.left)]
        if column(name).cost and column(name).better and ratios:
            lines.append([name, f"right / left from {min(ratios):.2f} to {max(ratios):.2f}"])
        else:
            different = sum(cell.left != cell.right and cell.difference != 0 for cell in cells)
            lines.append([name, f"{different} of {len(cells)} differ"])
    return lines


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
