"""Write the figure of the page "From estimates to label sets" from
results/benchmarks/expected-f.csv.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from xmlc.suite.papers.plotting import BLUE, VERMILION

HERE = Path(__file__).parent
FILE = HERE.parent / "results/benchmarks/expected-f.csv"
FIGURE = HERE / "expected_f.svg"
MODELS = {
    "plt-batch": "PLT",
    "plt": "PLT (SGD)",
    "fastxml": "FastXML",
    "swnn": "SWNN",
    "given": "given",
}
SPLITS = {"80 %": VERMILION, "100 %": BLUE}
METHOD = "ExpectedF(zero_division=0) with prior"
MEASURE = "macro_f_present"
OTHERS = {"fta, 80 %", "sto, 80 %", "ofo, 80 %"}
# pixels
LEFT = 250
WIDTH = 450
ROW = 23
TOP = 44
INTERVAL = re.compile(r"(-?[\d.]+) to (-?[\d.]+)$")

Gain = tuple[float, float, float]  # points, and the ends of the interval


def read() -> dict[str, dict[str, dict[str, Gain]]]:
    """Return gains over the best of the others by dataset, model and the model's split of the
    training set.
    """
    found: dict[str, dict[str, dict[str, Gain]]] = {}
    with open(FILE, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            ours, _, other = row["contender"].partition(" / ")
            if row["task"] == METHOD and row["measure"] == MEASURE and other in OTHERS:
                model, _, split = ours.partition(", ")
                # of one seed
                ends = INTERVAL.findall(row["note"]) or [(row["value"], row["value"])]
                gain = float(row["value"]), float(ends[0][0]), float(ends[0][1])
                of = found.setdefault(row["dataset"], {}).setdefault(MODELS[model], {})
                of[split] = min(gain, of.get(split, gain))
    return found


def figure(gains: dict[str, dict[str, dict[str, Gain]]]) -> Iterator[str]:
    """Draw gains with their intervals, a line for each dataset and model, as SVG."""
    lines = []
    ends = []
    for name, models in gains.items():
        for model, splits in models.items():
            lines.append((name, model))
            ends += chain.from_iterable(splits.values())
    low = int(min(0, *ends) // 2 * 2)
    high = int(-(-max(ends) // 2) * 2)
    height = TOP + ROW * len(lines)

    def at(points: float) -> float:
        return LEFT + (points - low) / (high - low) * WIDTH

    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {height + 32}"'
    yield ' font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>'
    for place, (split, colour) in enumerate(SPLITS.items()):
        x = LEFT + place * 230
        face = colour
        if split == "80 %":
            face = "white"
        yield (
            f'<g fill="{colour}"><circle cx="{x + 4}" cy="16" r="4" fill="{face}" '
            f'stroke="{colour}"/>'
        )
        yield f'<text x="{x + 14}" y="20">model of {split} of the instances</text></g>'
    for tick in range(low, high + 1, 2):
        stroke = "#666"
        if tick:
            stroke = "#ddd"
        yield f'<path d="M{at(tick):.0f} {TOP - 10}V{height - 10}" stroke="{stroke}"/>'
        yield f'<text x="{at(tick):.0f}" y="{height + 5}" text-anchor="middle">{tick}</text>'
    for place, (name, model) in enumerate(lines):
        y = TOP + ROW * place
        if place == 0 or lines[place - 1][0] != name:
            yield f'<path d="M8 {y - 10}H{LEFT + WIDTH}" stroke="#ddd"/>'
            yield f'<text x="8" y="{y + 4}" font-weight="bold">{name}</text>'
        yield f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{model}</text>'
        for split, (gain, lower, upper) in gains[name][model].items():
            colour = SPLITS.get(split, "#000000")
            shift = 3
            if split == "80 %":
                shift = -3
            yield (
                f'<path d="M{at(lower):.1f} {y + shift}H{at(upper):.1f}" stroke="{colour}" '
                'stroke-width="2"/>'
            )
            face = colour
            if split == "80 %":
                face = "white"
            yield (
                f'<circle cx="{at(gain):.1f}" cy="{y + shift}" r="3.5" fill="{face}" '
                f'stroke="{colour}"/>'
            )
    yield f'<text x="{(LEFT + WIDTH + 20) / 2:g}" y="{height + 24}" text-anchor="middle">'
    yield (
        "points of macro-F over the labels present, above the best of FTA, STO and OFO</text></svg>"
    )


if __name__ == "__main__":
    FIGURE.write_text("\n".join(figure(read())) + "\n", encoding="utf-8")
