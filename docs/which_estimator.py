"""Write the table and the figure of the page "Which estimator?" from results/benchmarks/searched.csv."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
FILE = HERE.parent / "results/benchmarks/searched.csv"
PAGE, FIGURE = HERE / "which_estimator.md", HERE / "which_estimator.svg"
SETS = {"scene": 6, "enron": 53, "bibtex": 159, "delicious": 983, "tib-core-26k": 26296, "synthetic-53k": 53000}
# Colours of Okabe and Ito.
TITLES = {
    "plt": ("PLT", "#0072B2"),
    "parabel": ("Parabel", "#D55E00"),
    "fastxml": ("FastXML", "#009E73"),
    "ldsm": ("LdSM", "#CC79A7"),
    "oplt": ("OPLT", "#E69F00"),
    "swnn": ("SWNN", "#56B4E9"),
    "br": ("BR", "#000000"),
}
WIDTH, HEIGHT, GAP, SECONDS = 230, 170, 46, (0.01, 1000)  # of a panel, pixels; of the axis of time

Rows = dict[tuple[str, str, str, str], dict[str, str]]


def read() -> Rows:
    """Return the rows of the file by dataset, estimator, task and measure."""
    with open(FILE, newline="", encoding="utf-8") as file:
        return {(r["dataset"], r["contender"], r["task"], r["measure"]): r for r in csv.DictReader(file)}


def table(rows: Rows) -> Iterator[str]:
    """Write defaults beside the best of the searches, a line for each dataset and estimator."""
    yield "| set | labels | estimator | trained on | before | default | best of the search | trials | behind |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for name, labels in SETS.items():
        for estimator, (title, _) in TITLES.items():
            found = [rows.get((name, estimator, task, "P@1, test")) for task in ("default", "best of the search")]
            if None in found:
                continue
            before = rows.get((name, estimator, "default before", "P@1, test"))
            default, best = (float(row["value"]) for row in found if row)
            trials = len(rows[name, estimator, "best of the search", "P@1, validation"]["rounds"].split())
            size = rows[name, estimator, "default", "P@1, validation"]["note"].removeprefix("trained on ")
            scores = f"{float(before['value']):.1f}" if before else ""
            scores += f" | {default:.1f} | {best:.1f} | {trials} | {best - default:.1f}"
            yield f"| {name} | {labels:,} | {title} | {size} | {scores} |"


def figure(rows: Rows) -> Iterator[str]:
    """Draw P@1 on the test set against processor seconds of training, a panel for each dataset, as SVG."""
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {3 * (WIDTH + GAP) + 16} {2 * (HEIGHT + GAP + 14)}"'
    yield ' font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
    low, high = map(math.log10, SECONDS)
    for place, (name, labels) in enumerate(SETS.items()):
        points = {}
        for estimator in TITLES:
            if (name, estimator, "training", "CPU time") in rows:
                seconds, score = (
                    float(rows[name, estimator, *what]["value"])
                    for what in (("training", "CPU time"), ("prediction of the best 5", "P@1, test"))
                )
                points[estimator] = max(seconds, SECONDS[0]), score
        scores = [score for _, score in points.values()]
        bottom, top = 5 * math.floor(min(scores) / 5 - 0.3), 5 * math.ceil(max(scores) / 5 + 0.3)
        x, y = GAP - 8 + place % 3 * (WIDTH + GAP), 24 + place // 3 * (HEIGHT + GAP + 8)
        yield f'<g transform="translate({x} {y})"><text y="-8" font-weight="bold">{name}, {labels:,} labels</text>'
        for tick in range(round(low), round(high) + 1):
            at = (tick - low) / (high - low) * WIDTH
            yield f'<path d="M{at:.0f} 0V{HEIGHT}" stroke="#ddd"/>'
            yield f'<text x="{at:.0f}" y="{HEIGHT + 14}" text-anchor="middle">{10.0**tick:g}</text>'
        for tick in range(bottom, top + 1, 5 if top - bottom <= 30 else 10):
            at = (top - tick) / (top - bottom) * HEIGHT
            yield f'<path d="M0 {at:.0f}H{WIDTH}" stroke="#ddd"/>'
            yield f'<text x="-4" y="{at + 4:.0f}" text-anchor="end">{tick}</text>'
        taken: list[tuple[float, float]] = []
        for estimator, (seconds, score) in sorted(points.items(), key=lambda point: -point[1][1]):
            title, colour = TITLES[estimator]
            right, down = (math.log10(seconds) - low) / (high - low) * WIDTH, (top - score) / (top - bottom) * HEIGHT
            text = down + 4
            while any(abs(right - a) < 50 and abs(text - b) < 11 for a, b in taken):
                text += 3
            taken.append((right, text))
            side = 'text-anchor="end" x="-7"' if right > WIDTH - 50 else 'x="7"'
            yield f'<g transform="translate({right:.1f} 0)" fill="{colour}"><circle cy="{down:.1f}" r="4"/>'
            yield f'<text {side} y="{text:.1f}">{title}</text></g>'
        yield "</g>"
    yield f'<text x="{1.5 * (WIDTH + GAP)}" y="{2 * (HEIGHT + GAP) + 22}" text-anchor="middle">'
    yield "P@1 on the test set (%) against processor seconds of training on one thread</text></svg>"


def page(text: str, rows: Rows) -> str:
    """Return the page with the table as the file has it."""
    return re.sub(r"\| set \|.*?\n\n", "\n".join(table(rows)) + "\n\n", text, count=1, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), read()), encoding="utf-8")
    FIGURE.write_text("\n".join(figure(read())) + "\n", encoding="utf-8")
