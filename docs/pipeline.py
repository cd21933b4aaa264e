"""Draw the figure of the page "Architecture": the steps from a dataset to tables next to published
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from xmlc.suite.papers.plotting import BLUE

FIGURE = Path(__file__).parent / "pipeline.svg"
RUN = "results/<dataset>/<model>/seed<k>/"
# The content and the path of each box, and the commands that make the next box.
STEPS = [
    ("downloaded dataset", "resources/<dataset>/", ["prepare"]),
    ("arrays, with an 80/20 split of the training set", "results/<dataset>/data/", ["train"]),
    ("model of 80 % of the training set", f"{RUN}80/model/", ["estimate"]),
    (
        "sparse probability estimates of validation and test set",
        f"{RUN}80/spe/",
        ["thresholds", "infer"],
    ),
    ("label sets of the test set, scored in the same job", "", []),
    (
        "records: a JSON file for each dataset, model, method and seed",
        f"{RUN}{{80,full}}/",
        ["table", "figure"],
    ),
    ("tables and figures of a paper", "results/{tables,figures}/<paper>/", ["compare", "report"]),
    ("tables next to the published numbers, with verdicts", "results/report", []),
]
# Further inputs: the box that they lead to, their content and their path.
INPUTS = [
    (6, "names of records", "config/*.yaml"),
    (7, "numbers of the papers", "results/published/"),
]
# Rankings have no thresholds: the first and the last box, and the commands between them.
RANKINGS = (1, 5, ["train", "rank", "score"])
# pixels
LEFT = 10
WIDTH = 430
HEIGHT = 42
GAP = 34
SIDE = 500
GREY = "#555"


def escaped(text: str) -> str:
    """Return a text for SVG."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def text(x: float, y: float, words: str, style: str = "") -> str:
    """Return a line of text."""
    return f'<text x="{x:g}" y="{y:g}" {style}>{escaped(words)}</text>'


def box(x: float, y: float, width: float, content: str, path: str, colour: str) -> Iterator[str]:
    """Draw a box with its content, and with its path in a second line."""
    yield (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{HEIGHT}" rx="5" fill="white" '
        f'stroke="{colour}"/>'
    )
    middle = x + width / 2
    style = 'text-anchor="middle"'
    yield text(middle, y + (18 if path else 26), content, style)
    if path:
        yield text(middle, y + 35, path, f'{style} fill="{GREY}" font-family="monospace"')


def arrow(path: str, colour: str) -> str:
    """Return a line with a head at its end."""
    return f'<path d="{path}" fill="none" stroke="{colour}" marker-end="url(#head)"/>'


def figure() -> Iterator[str]:
    """Draw the boxes from top to bottom, with the commands between them, as SVG."""
    tops = [10 + (HEIGHT + GAP) * place for place in range(len(STEPS))]
    size = f'width="720" height="{tops[-1] + HEIGHT + 10}"'
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 720 {tops[-1] + HEIGHT + 10}"'
    )
    yield (
        ' font-family="sans-serif" font-size="12.5"><rect width="100%" height="100%" fill="white"/>'
    )
    yield '<marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
    yield f'<path d="M0 0L8 4L0 8z" fill="{GREY}"/></marker>'
    middle = LEFT + WIDTH / 2
    for top, (content, path, commands) in zip(tops, STEPS):
        yield from box(LEFT, top, WIDTH, content, path, BLUE)
        if top != tops[-1]:
            yield arrow(f"M{middle:g} {top + HEIGHT}V{top + HEIGHT + GAP}", GREY)
        names = ", ".join(f"xmlc {command}" for command in commands)
        yield text(middle + 12, top + HEIGHT + 21, names, f'fill="{BLUE}" font-family="monospace"')
    for place, content, path in INPUTS:
        top = tops[place]
        start = SIDE
        yield from box(start, top, 720 - start - 10, content, path, GREY)
        yield arrow(f"M{start} {top + HEIGHT / 2:g}H{LEFT + WIDTH}", GREY)
    first, last, commands = RANKINGS
    edge = LEFT + WIDTH
    right = SIDE + 20
    yield arrow(
        f"M{edge} {tops[first] + HEIGHT / 2:g}H{right}V{tops[last] + HEIGHT / 2:g}H{edge}", GREY
    )
    halfway = (tops[first] + tops[last] + HEIGHT) / 2
    yield text(right + 10, halfway - 16, "models of all instances")
    for line, command in enumerate(commands):
        yield text(
            right + 10,
            halfway + 4 + 18 * line,
            f"xmlc {command}",
            f'fill="{BLUE}" font-family="monospace"',
        )
    yield "</svg>"


if __name__ == "__main__":
    FIGURE.write_text("\n".join(figure()) + "\n", encoding="utf-8")
