"""Draw the figure of the page "How a published number is judged": three published numbers and their
intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xmlc.suite.papers.plotting import BLUE, VERMILION
from xmlc.suite.report.compare import compare
from xmlc.suite.report.verdicts import Judge

ROOT = Path(__file__).parents[1]
FIGURE = ROOT / "docs/interval.svg"
# Paper and table, row and column of each number, and the title of its line.
NUMBERS = {
    ("ldsm2020/table7", "delicious-ldsm / ldsm", "p@1"): "LdSM on Delicious, P@1",
    ("ldsm2020/table7", "bibtex / ldsm", "p@1"): "LdSM on Bibtex, P@1",
    ("gfm2011/table1", "enron / br / h", "macro_f"): "BR on enron, macro-F",
}
# pixels, and points at the end of the axis
LEFT = 226
WIDTH = 304
ROW = 56
TOP = 72
LARGEST = 4


def judged() -> list[dict[str, Any]]:
    """Return the cells of the five seeds with their intervals and verdicts."""
    judge = Judge.of_project(ROOT / "config")
    found = []
    for table, row, column in NUMBERS:
        file = f"{table}.csv"
        sides = ROOT / "results/published" / file, ROOT / "results/reference/five-seeds" / file
        cells = compare(*sides, judge).cells
        found += cells[(cells["row"] == row) & (cells["column"] == column)].to_dict("records")
    return found


def signed(value: float, digits: int = 0) -> str:
    """Return a number with its sign, or 0."""
    if value:
        return f"{value:+.{digits}f}".replace("-", "−")
    return "0"


def figure() -> Iterator[str]:
    """Draw the interval and the difference of each number in points, with the published number at
    0, as SVG.
    """

    def at(points: float) -> float:
        return LEFT + (points + LARGEST) / (2 * LARGEST) * WIDTH

    end = TOP + ROW * len(NUMBERS)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{end + 40}" viewBox="0 0 '
        f'720 {end + 40}"'
    )
    yield ' font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>'
    yield f'<path d="M20 20h26M20 14v12M46 14v12" stroke="{BLUE}" stroke-width="2"/>'
    yield '<text x="56" y="25">interval that holds 95 of 100 faithful runs</text>'
    yield (
        '<path d="M362 10V30" stroke="black" stroke-width="2"/><text x="370" y="25">published '
        "number</text>"
    )
    yield (
        f'<circle cx="510" cy="20" r="5" fill="{VERMILION}"/><text x="522" y="25">mean of five '
        "runs of xmlc</text>"
    )
    for tick in range(-LARGEST, LARGEST + 1):
        yield f'<path d="M{at(tick):.1f} {TOP - 20}V{end - 14}" stroke="#ddd"/>'
        yield f'<text x="{at(tick):.1f}" y="{end + 2}" text-anchor="middle">{signed(tick)}</text>'
    yield f'<path d="M{at(0):.1f} {TOP - 20}V{end - 14}" stroke="black" stroke-width="2"/>'
    for line, (title, number) in enumerate(zip(NUMBERS.values(), judged())):
        y = TOP + ROW * line
        value = float(number["new"])
        difference = value - float(number["old"])
        interval = number["variation"]
        low = at(-interval)
        high = at(interval)
        yield f'<text x="20" y="{y - 4}">{title}</text>'
        yield f'<text x="20" y="{y + 14}">published {number["old"]}, xmlc {value:.2f}</text>'
        yield f'<path d="M{low:.1f} {y}H{high:.1f}M{low:.1f} {y - 8}v16M{high:.1f} {y - 8}v16"'
        yield f' stroke="{BLUE}" stroke-width="2"/>'
        yield f'<circle cx="{at(difference):.1f}" cy="{y}" r="5" fill="{VERMILION}"/>'
        yield (
            f'<text x="{LEFT + WIDTH + 20}" y="{y - 4}" '
            f'font-weight="bold">{number["verdict"]}</text>'
        )
        width = f"{interval:.{2 if interval >= 0.01 else 3}f}"
        yield (
            f'<text x="{LEFT + WIDTH + 20}" y="{y + 14}">{signed(difference, 2)}, interval ± '
            f"{width}</text>"
        )
    yield f'<text x="{LEFT + WIDTH / 2:g}" y="{end + 26}" text-anchor="middle">'
    yield "xmlc minus the published number, points</text></svg>"


if __name__ == "__main__":
    FIGURE.write_text("\n".join(figure()) + "\n", encoding="utf-8")
