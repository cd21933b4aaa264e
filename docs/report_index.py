"""Draw the README's picture: the first table of the report of the five seeds, which counts the
verdicts on the published numbers of each paper.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

from xmlc.suite.papers.plotting import GREEN, ORANGE, VERMILION

ROOT = Path(__file__).parents[1]
FIGURE = ROOT / "docs/report_index.svg"
OUTCOMES = runpy.run_path(str(ROOT / "docs/results.py"))["outcomes"]
# Outcomes from left to right, in the words of README's table. Fitted numbers are hatched.
COLOURS = {
    "reproduced": GREEN,
    "agree, fitted": "url(#fitted)",
    "differ": VERMILION,
    "undecided": ORANGE,
    "not run": "#e3e6ea",
}
# pixels
LEFT = 110
WIDTH = 590
ROW = 34
BAR = 20
TOP = 74
LEGEND = 128


def figure() -> Iterator[str]:
    """Draw a bar for each paper, whose length is the number of published numbers, as SVG."""
    counts = OUTCOMES()
    unit = WIDTH / max(count["published"] for count in counts.values())
    height = TOP + ROW * len(counts) + 6
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{height}" viewBox="0 0 720 '
        f'{height}" font-family="sans-serif" font-size="13"><defs><pattern id="fitted" width="6" '
        'height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" '
        f'height="6" fill="white"/><rect width="3" height="6" fill="{GREEN}"/></pattern></defs>'
    )
    yield '<rect width="100%" height="100%" fill="white"/>'
    total = sum(count["published"] for count in counts.values())
    good = sum(count["reproduced"] for count in counts.values())
    yield (
        f'<text x="12" y="24" font-weight="bold">{good} of {total} published numbers are '
        "reproduced</text>"
    )
    for place, (name, colour) in enumerate(COLOURS.items()):
        at = 12 + LEGEND * place
        yield f'<rect x="{at}" y="38" width="14" height="14" fill="{colour}" stroke="#888"/>'
        yield f'<text x="{at + 20}" y="50">{name}</text>'
    for place, (paper, count) in enumerate(counts.items()):
        y = TOP + ROW * place
        yield f'<text x="12" y="{y + 15}">{paper}</text>'
        x: float = LEFT
        for name, colour in COLOURS.items():
            width = count[name] * unit
            if count[name]:
                yield (
                    f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" '
                    f'fill="{colour}" stroke="white"/>'
                )
            if width > 20:
                yield (
                    f'<text x="{x + 5:.1f}" y="{y + 15}" stroke="white" stroke-width="3" '
                    f'paint-order="stroke">{count[name]}</text>'
                )
            x += width
    yield "</svg>"


if __name__ == "__main__":
    FIGURE.write_text("\n".join(figure()) + "\n", encoding="utf-8")
