"""Draw the figure of the page "From estimates to label sets": thresholds turn estimates of an
instance into a set.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from xmlc import LabelSets
from xmlc.suite.papers.plotting import BLUE, VERMILION

HERE = Path(__file__).parent
PAGE = HERE / "expected_f.md"
FIGURE = HERE / "estimates_to_sets.svg"
INSTANCE = 2  # row of the page's matrix
# pixels
LEFT = 90
WIDTH = 360
ROW = 46
TOP = 62
GREY = "#666"


def estimates() -> list[list[float]]:
    """Return the matrix of the page's example."""
    found = re.search(r"estimates = (\[.*?\n\])", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    if not found:
        raise ValueError(f"{PAGE}: found no matrix, expected `estimates = [...]`")
    matrix: list[list[float]] = ast.literal_eval(found[1])
    return matrix


def figure() -> Iterator[str]:
    """Draw a bar for the estimate of each label and a line for its threshold, as SVG."""
    matrix = estimates()
    fitted = LabelSets("macro_f").fit(matrix)
    chosen = set(fitted.predict(matrix)[[INSTANCE]].indices.tolist())
    height = TOP + ROW * len(matrix[INSTANCE]) + 52
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{height}" viewBox="0 0 720 '
        f'{height}"'
    )
    yield ' font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="white"/>'
    yield f'<rect x="{LEFT}" y="14" width="26" height="14" fill="{BLUE}"/>'
    yield f'<text x="{LEFT + 34}" y="26">estimate of the instance</text>'
    yield f'<path d="M{LEFT + 230} 10V32" stroke="{VERMILION}" stroke-width="3"/>'
    yield f'<text x="{LEFT + 240}" y="26">threshold of the label</text>'
    for label, (estimate, limit) in enumerate(zip(matrix[INSTANCE], fitted.thresholds_)):
        y = TOP + ROW * label
        colour = GREY
        if label in chosen:
            colour = BLUE
        sign, verdict = ("≥", "in the set") if label in chosen else ("&lt;", "not in the set")
        weight = "normal"
        if label in chosen:
            weight = "bold"
        yield f'<text x="{LEFT - 12}" y="{y + 18}" text-anchor="end">label {label}</text>'
        yield f'<path d="M{LEFT} {y + 13}h{WIDTH}" stroke="#ddd"/>'
        yield (
            f'<rect x="{LEFT}" y="{y + 3}" width="{WIDTH * estimate:.1f}" height="20" '
            f'fill="{colour}"/>'
        )
        yield (
            f'<path d="M{LEFT + WIDTH * limit:.1f} {y - 5}v36" stroke="{VERMILION}" '
            'stroke-width="3"/>'
        )
        yield f'<text x="{LEFT + WIDTH + 20}" y="{y + 18}" fill="{colour}" font-weight="{weight}">'
        yield f"{estimate:.2f} {sign} {limit:.2f}: {verdict}</text>"
    y = TOP + ROW * len(matrix[INSTANCE]) + 4
    for tick in (0, 0.5, 1):
        yield f'<text x="{LEFT + WIDTH * tick:g}" y="{y}" text-anchor="middle">{tick:g}</text>'
    names = ", ".join(str(label) for label in sorted(chosen))
    yield (
        f'<text x="{LEFT}" y="{y + 34}" font-weight="bold" fill="{BLUE}">label set '
        f"{{{names}}}</text></svg>"
    )


if __name__ == "__main__":
    FIGURE.write_text("\n".join(figure()) + "\n", encoding="utf-8")
