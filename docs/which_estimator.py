"""Write the figure and the table of the page "Choose an estimator" from files of
results/benchmarks.
"""

from __future__ import annotations

import csv
import math
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

from xmlc.suite.papers.plotting import BLUE, VERMILION

HERE = Path(__file__).parent
MEASURED = HERE.parent / "results/benchmarks"
PAGE = HERE / "which_estimator.md"
FIGURE = HERE / "which_estimator.svg"
SETS = {"enron": 53, "bibtex": 159, "delicious": 983, "tib-core-26k": 26296}
ESTIMATORS = {
    "plt": "PLT",
    "parabel": "Parabel",
    "fastxml": "FastXML",
    "ldsm": "LdSM",
    "oplt": "OPLT",
    "swnn": "SWNN",
    "br": "BinaryRelevance",
}
XMLC = ("PLT", "PLT.for_ranking", "Parabel", "SWNN", "Stacking")
OTHERS = ("omikuji", "napkinXC", "PECOS", "LibMultiLabel")
# of a panel, pixels
COLUMNS = 2
WIDTH = 340
HEIGHT = 240
GAP = 52
TOP = 50
# sizes of the font and of a letter, pixels
FONT = 13
LETTER = 7.4
LINE = 14
TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)  # of the times
# task and measure
TRAINING = ("training", "CPU time")
P_AT_1 = ("prediction of the best 5", "P@1")
CAPTION = "P@1 on the test set (%) against CPU seconds of training on one thread"

Box = tuple[float, float, float, float]  # left, top, right, bottom

Rows = dict[tuple[str, str, str, str], dict[str, str]]
Key = tuple[str, str]  # task and measure
Panel = tuple[str, str, Key]  # title, dataset, times
PANELS: list[Panel] = [
    (f"{name}, {labels:,} labels", name, TRAINING) for name, labels in SETS.items()
]


def read(name: str) -> Rows:
    """Return the rows of a file by dataset, contender, task and measure."""
    with open(MEASURED / name, newline="", encoding="utf-8") as file:
        return {
            (r["dataset"], r["contender"], r["task"], r["measure"]): r for r in csv.DictReader(file)
        }


def gaps(rows: Rows) -> dict[str, dict[str, float]]:
    """Return the test P@1 of the best trial minus the default's, in points, by estimator and
    dataset.
    """
    found: dict[str, dict[str, float]] = {title: {} for title in ESTIMATORS.values()}
    for (name, estimator, task, measure), row in rows.items():
        if task == "best of the search" and measure == "P@1, test":
            default = rows[name, estimator, "default", measure]
            found[ESTIMATORS[estimator]][name] = float(row["value"]) - float(default["value"])
    return found


def table(rows: Rows) -> Iterator[str]:
    """Write a line for each estimator with its median and its largest gap."""
    yield "| estimator | datasets | median | largest | on |"
    yield "| --- | --: | --: | --: | --- |"
    for title, of in gaps(rows).items():
        worst = max(of, key=of.__getitem__)
        yield (
            f"| `{title}` | {len(of)} | {statistics.median(of.values()):.1f} | {of[worst]:.1f} | "
            f"{worst} |"
        )


def free_place(x: float, y: float, title: str, taken: list[Box]) -> tuple[float, float]:
    """Return the left end and the baseline of a point's title, next to the point and apart from
    what is drawn.
    """
    length = len(title) * LETTER
    for shift in sorted(range(-8 * LINE, 8 * LINE + 1, 2), key=abs):
        for left in (x + 8, x - 8 - length):
            box = left, y + shift - LINE / 2, left + length, y + shift + LINE / 2
            if box[0] < 0 or box[2] > WIDTH or not 0 < y + shift < HEIGHT:
                continue
            if all(box[2] < a or c < box[0] or box[3] < b or d < box[1] for a, b, c, d in taken):
                taken.append(box)
                return left, y + shift + 4
    raise ValueError(f"found no place for {title}, expected a larger panel")


def panel(found: dict[str, tuple[float, float]]) -> Iterator[str]:
    """Draw one panel, given the time and the quality of each program."""
    low = min(s for s, _ in found.values()) / 1.5
    high = max(s for s, _ in found.values()) * 1.5
    bottom = math.floor(min(p for _, p in found.values()) - 1)
    top = math.ceil(max(p for _, p in found.values()) + 1)
    for tick in TICKS:
        if low <= tick <= high:
            at = math.log(tick / low) / math.log(high / low) * WIDTH
            yield f'<path d="M{at:.0f} 0V{HEIGHT}" stroke="#ddd"/>'
            yield f'<text x="{at:.0f}" y="{HEIGHT + 14}" text-anchor="middle">{tick:g}</text>'
    for score in range(bottom, top + 1, 2):
        at = (top - score) / (top - bottom) * HEIGHT
        yield f'<path d="M0 {at:.0f}H{WIDTH}" stroke="#ddd"/>'
        yield f'<text x="-4" y="{at + 4:.0f}" text-anchor="end">{score}</text>'
    points = {
        contender: (
            math.log(s / low) / math.log(high / low) * WIDTH,
            (top - p) / (top - bottom) * HEIGHT,
        )
        for contender, (s, p) in found.items()
    }
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in points.values()]
    for contender, (x, y) in sorted(points.items(), key=lambda point: point[1][1]):
        start, baseline = free_place(x, y, contender, taken)
        if start > x:
            end = start - 2
        else:
            end = start + len(contender) * LETTER
        yield (
            f'<g fill="{BLUE if contender in XMLC else VERMILION}"><circle cx="{x:.1f}" '
            f'cy="{y:.1f}" r="4"/>'
        )
        yield (
            f'<path d="M{x:.1f} {y:.1f}L{end:.1f} {baseline - 4:.1f}" stroke="#999" '
            'stroke-width="0.7"/>'
        )
        if start > x:
            place_of = f'x="{start:.1f}"'
        else:
            place_of = f'text-anchor="end" x="{end:.1f}"'
        yield f'<text {place_of} y="{baseline:.1f}">{contender}</text></g>'


def figure(
    rows: Rows, panels: list[Panel] = PANELS, quality: Key = P_AT_1, caption: str = CAPTION
) -> Iterator[str]:
    """Draw a quality of each program against its time as SVG, in panels."""
    width = COLUMNS * (WIDTH + GAP) + 10
    height = TOP + -(-len(panels) // COLUMNS) * (HEIGHT + GAP) + 10
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
    yield (
        f' font-family="sans-serif" font-size="{FONT}"><rect width="100%" height="100%" '
        'fill="white"/>'
    )
    for left, colour, title in ((GAP, BLUE, "xmlc"), (GAP + 90, VERMILION, "other programs")):
        yield (
            f'<g fill="{colour}"><circle cx="{left}" cy="14" r="4"/><text x="{left + 9}" '
            f'y="18">{title}</text></g>'
        )
    for place, (heading, name, times) in enumerate(panels):
        found = {
            contender: (
                float(rows[name, contender, *times]["value"]),
                float(rows[name, contender, *quality]["value"]),
            )
            for contender in (*XMLC, *OTHERS)
        }
        across = GAP - 10 + place % COLUMNS * (WIDTH + GAP)
        down = TOP + place // COLUMNS * (HEIGHT + GAP)
        yield f'<g transform="translate({across} {down})">'
        yield f'<text y="-8" font-weight="bold">{heading}</text>'
        yield from panel(found)
        yield "</g>"
    yield f'<text x="{width / 2:.0f}" y="{height - 8}" text-anchor="middle">'
    yield f"{caption}</text></svg>"


def page(text: str, rows: Rows) -> str:
    """Return the page with the table from the measurements."""
    return re.sub(
        r"\| estimator \|.*?\n\n", "\n".join(table(rows)) + "\n\n", text, count=1, flags=re.DOTALL
    )


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), read("searched.csv")), encoding="utf-8")
    FIGURE.write_text("\n".join(figure(read("programs.csv"))) + "\n", encoding="utf-8")
