"""A drawing of quality against time on the page: places and texts, from the cells that stand beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xmlc.papers.common.figures import pareto_front
from xmlc.papers.table import Cell

QUALITY, TIME = "p@1", "train_seconds"
# Of a drawing: the frame; about the size of a name.
LEFT, TOP, RIGHT, BOTTOM = 40, 14, 450, 230
ROOM = 150, 12


class Point(NamedTuple):
    """A model in a drawing; its name stands there if there is room, and no other is both cheaper and better."""

    x: float
    y: float
    title: str
    front: bool
    label: str


class Plot(NamedTuple):
    """A drawing of P@1 against seconds of training, in powers of ten, with the places and texts of ticks."""

    points: list[Point]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]


def plot_of(found: dict[str, dict[str, Cell]], titles: Mapping[str, str]) -> Plot | None:
    """Draw the models that take time, the best first; None if there are not two."""
    known = [cells for cells in found.values() if {TIME, QUALITY} <= {*cells}]
    timed = [(cells[TIME], cells[QUALITY]) for cells in known if cells[TIME].mean.value > 0]
    if len(timed) < 2:
        return None
    seconds, precisions = ([cell.mean.value for cell in cells] for cells in zip(*timed))
    xs, x_ticks = _axis([math.log10(value) for value in seconds], LEFT, RIGHT)
    ys, y_ticks = _axis(precisions, BOTTOM, TOP)
    front, points = pareto_front(seconds, precisions), list[Point]()
    for place, (x, y, (time, precision)) in enumerate(zip(xs, ys, timed)):
        name = titles[time.key[0]]
        free = not any(one.label and abs(one.x - x) < ROOM[0] and abs(one.y - y) < ROOM[1] for one in points)
        title = f"{name}: P@1 {precision.text} %, {time.text} s"
        points.append(Point(x, y, title, place in front, name if place in front and free else ""))
    return Plot(
        points,
        [(x, f"{float(f'{10**value:.2g}'):g}") for x, value in x_ticks],
        [(y, f"{value:g}") for y, value in y_ticks],
    )


def _axis(values: Sequence[float], start: float, end: float) -> tuple[list[float], list[tuple[float, float]]]:
    """Return the places of values between the two ends of an axis, and those of ticks, each with its value."""
    from matplotlib.ticker import MaxNLocator

    low, high = min(values), max(values)
    low, high = low - 0.08 * (high - low) - 0.01, high + 0.08 * (high - low) + 0.01
    ticks = [value for value in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high) if low <= value <= high]
    places = [round(start + (value - low) / (high - low) * (end - start), 1) for value in (*values, *ticks)]
    return places[: len(values)], list(zip(places[len(values) :], ticks))
