"""Figures of every suite; a figure of a paper's own with the same name takes precedence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.papers.oplt2021.figures import macrof as macrof
from xmlc.papers.plotting import BLUE, GREEN, PURPLE, VERMILION, add_grid, figure
from xmlc.papers.plt2016.figures import figure1 as figure1
from xmlc.papers.tables.table import average_seeds
from xmlc.papers.tables.titles import family, model_title
from xmlc.records.ranking import RankingRecord
from xmlc.records.ranking import frame as ranking_frame
from xmlc.suites.needs import PEER_RANKINGS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


QUALITY = "p@1"
COSTS = {"train_seconds": "training (s)", "predict_ms": "prediction (ms per instance)"}
# Programs of one family share colour and marker, labels tell them apart.
FAMILIES: dict[str, dict[str, Any]] = {
    "xmlc": {"color": BLUE, "marker": "o"},
    "napkinXC": {"color": VERMILION, "marker": "s"},
    "omikuji": {"color": GREEN, "marker": "^"},
    "Vowpal Wabbit": {"color": PURPLE, "marker": "D"},
}
FRONT: dict[str, Any] = {"color": "0.55", "linewidth": 1.0, "linestyle": (0, (4, 2)), "zorder": 1}

# In inches and points: places are fixed, so that labels can be laid out before anything is drawn.
PANEL_WIDTH, PANEL_HEIGHT = 4.0, 2.9
LEFT, RIGHT, TOP, BOTTOM = 0.75, 0.15, 0.35, 0.75
GAP_WIDTH, GAP_HEIGHT = 0.35, 0.75
POINTS = 72
LABEL_SIZE, MARKER_SIZE = 7.5, 6.0
DISTANCES = (6, 11, 17, 24, 32, 42)
DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8))
NEAR = 1  # a label at one of the further distances is tied to its point by a line
ROUNDS = 20
FRONT_ROOM = 1.5  # beside the front's line
MANY_DECADES = 2.5  # fewer have ticks between the powers of ten
NOTHING = np.zeros((0, 4))
SPARE = 0.12  # share of the axis left free beyond the outermost points


@figure("pareto", PEER_RANKINGS)
def pareto(paper: str, records: Sequence[RankingRecord]) -> Figure:
    """Draw P@1 against training seconds and milliseconds per instance; the dashed line is the Pareto front.

    Parameters
    ----------
    paper : str
    records : sequence of RankingRecord
        Seeds are averaged, and what has no cost (an oracle) is left out.

    Raises
    ------
    XmlcError
        No record has a cost.
    """
    frame = average_seeds(ranking_frame(records), ("dataset", "model")).dropna(subset=list(COSTS))
    if frame.empty:
        raise XmlcError("pareto: no record has training seconds and milliseconds per instance; expected one at least")
    datasets = list(dict.fromkeys(frame["dataset"]))
    figure, grid = _sheet(len(datasets))
    for dataset, row in zip(datasets, grid):
        rows = frame[frame["dataset"] == dataset]
        for axes, (cost, title) in zip(row, COSTS.items()):
            _draw_panel(axes, rows, cost)
            axes.set_xlabel(title)
        row[0].set_ylabel("P@1 (%)")
        row[0].set_title(dataset, loc="left")
        threads = sorted({int(n) for n in rows["train_threads"]} | {int(n) for n in rows["predict_threads"]})
        number = " or ".join(map(str, threads))
        row[1].set_title(f"{number} thread{'s' * (threads != [1])}", loc="right", color="0.4", fontsize=8)
    _add_legend(figure, [name for name in FAMILIES if name in set(frame["model"].map(family))])
    return figure


def pareto_front(costs: Sequence[float], quality: Sequence[float]) -> list[int]:
    """Return the places, cheapest first, that no other beats: none is as cheap and better, or as good and cheaper.

    Of equal places the first counts.
    """
    front: list[int] = []
    for place in sorted(range(len(costs)), key=lambda i: (costs[i], -quality[i])):
        if not front or quality[place] > quality[front[-1]]:
            front.append(place)
    return front


def _sheet(rows: int) -> tuple[Figure, np.ndarray]:
    from matplotlib.figure import Figure

    width = LEFT + len(COSTS) * PANEL_WIDTH + GAP_WIDTH + RIGHT
    height = TOP + rows * PANEL_HEIGHT + (rows - 1) * GAP_HEIGHT + BOTTOM
    figure = Figure(figsize=(width, height))
    grid = figure.subplots(rows, len(COSTS), sharey="row", squeeze=False)
    figure.subplots_adjust(
        left=LEFT / width, right=1 - RIGHT / width, top=1 - TOP / height, bottom=BOTTOM / height,
        wspace=GAP_WIDTH / PANEL_WIDTH, hspace=GAP_HEIGHT / PANEL_HEIGHT,
    )  # fmt: skip
    return figure, grid


def _draw_panel(axes: Axes, rows: pd.DataFrame, cost: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    costs, quality = rows[cost].to_numpy(dtype=float), rows[QUALITY].to_numpy(dtype=float)
    axes.set_xscale("log")
    left, right = _widened(np.log10(costs), 0.15)
    axes.set_xlim(10**left, 10**right)
    axes.set_ylim(_widened(quality, 0.5))
    for x, y, model in zip(costs, quality, rows["model"]):
        axes.plot([x], [y], **FAMILIES[family(model)], linestyle="none", markersize=MARKER_SIZE, label=model)
    front = pareto_front(costs, quality)
    ends = [*costs[front], axes.get_xlim()[1]], [*quality[front], quality[front[-1]]]
    axes.step(*ends, where="post", label="_front", **FRONT)
    frame = np.array([PANEL_WIDTH, PANEL_HEIGHT]) * POINTS
    places, steps = _on_panel(axes, frame, costs, quality), _on_panel(axes, frame, *ends)
    titles = [model_title(model) for model in rows["model"]]
    labels = place_labels(places, [text_size(title) for title in titles], frame, _step_boxes(steps))
    tie = {"arrowstyle": "-", "linewidth": 0.5, "color": "0.6", "shrinkA": 0, "shrinkB": 3}
    for label, x, y in zip(labels, costs, quality):
        axes.annotate(
            titles[label.place], (x, y), xytext=label.offset, textcoords="offset points", fontsize=LABEL_SIZE,
            ha="left", va="bottom", arrowprops=tie if label.tied else None,
        )  # fmt: skip
    decades = float(np.ptp(np.log10(axes.get_xlim())))
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < MANY_DECADES else (1,), numticks=12))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(MaxNLocator(5))
    add_grid(axes)


def _on_panel(axes: Axes, frame: np.ndarray, costs: Sequence[float], quality: Sequence[float]) -> np.ndarray:
    """Return where points lie on the panel, shape (n, 2), in 1/72 inch."""
    (left, right), (low, high) = np.log10(axes.get_xlim()), axes.get_ylim()
    shares = [(np.log10(costs) - left) / (right - left), (np.asarray(quality) - low) / (high - low)]
    return np.column_stack(shares) * frame


def _step_boxes(steps: np.ndarray) -> np.ndarray:
    """Return the boxes, shape (k, 4), that the lines of a front fill: right to the next point, then up."""
    lines = [[(*here, there[0], here[1]), (there[0], here[1], *there)] for here, there in pairwise(steps)]
    return np.array(lines).reshape(-1, 4) + np.array([-1, -1, 1, 1]) * FRONT_ROOM


def _widened(values: np.ndarray, least: float) -> tuple[float, float]:
    """Return an interval around values with room beside them, and some where all are equal."""
    room = max(SPARE * float(np.ptp(values)), least)
    return float(values.min()) - room, float(values.max()) + room


@dataclass(frozen=True)
class Label:
    """Where the label of a point stands."""

    #: Which point.
    place: int
    #: From the point to the lower left corner of its text, in points (1/72 inch).
    offset: tuple[float, float]
    #: Whether it is so far away that a line should tie it to its point.
    tied: bool


def place_labels(
    places: np.ndarray, sizes: Sequence[tuple[float, float]], frame: np.ndarray, obstacles: np.ndarray = NOTHING
) -> list[Label]:
    """Place a label beside each point so that none covers another label, a point or an obstacle, if there is room.

    Label by label, the nearest position around the point that covers least; again and again, as labels placed later
    may have left room, until nothing changes. The same input gives the same places.

    Parameters
    ----------
    places : ndarray, shape (n, 2)
        Points on the panel, in 1/72 inch.
    sizes : sequence of (width, height)
        Of the labels.
    frame : ndarray, shape (2,)
        Width and height of the panel, which labels do not leave if they can.
    obstacles : ndarray, shape (k, 4)
        Boxes: left, low, right, high.
    """
    half = MARKER_SIZE / 2 + 1
    markers = np.column_stack([places - half, places + half])
    offsets = [_offsets(size) for size in sizes]
    candidates = [np.column_stack([p + o, p + o + size]) for p, o, size in zip(places, offsets, sizes)]
    outside = [np.prod(size) - _common_area(c, np.array([2, 2, *(frame - 2)])) for c, size in zip(candidates, sizes)]
    chosen: dict[int, int] = {}
    for _ in range(ROUNDS):
        before = dict(chosen)
        for place, boxes in enumerate(candidates):
            others = [candidates[other][position] for other, position in chosen.items() if other != place]
            taken = np.array([*np.delete(markers, place, axis=0), *obstacles, *others]).reshape(-1, 1, 4)
            covered = outside[place] + _common_area(boxes, taken).sum(axis=0)
            chosen[place] = int(np.argmin(covered.round(6)))  # the first, so the nearest, of equals
        if chosen == before:
            break
    return [
        Label(place, tuple(offsets[place][position].tolist()), position >= NEAR * len(DIRECTIONS))
        for place, position in sorted(chosen.items())
    ]


def _offsets(size: tuple[float, float]) -> np.ndarray:
    """Return the positions of a label around its point, nearest first: offsets of its lower left corner.

    The near side or corner of the text is so far away, in this direction, as `DISTANCES` and `DIRECTIONS` say.
    """
    return np.array(
        [
            [step * distance + extent * _before(step) for step, extent in zip(direction, size)]
            for distance in DISTANCES
            for direction in DIRECTIONS
        ]
    )


def _common_area(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the area that boxes (left, low, right, high) share with others, broadcast over all but the last axis."""
    sides = np.minimum(boxes[..., 2:], others[..., 2:]) - np.maximum(boxes[..., :2], others[..., :2])
    return np.clip(sides, 0, None).prod(axis=-1)


def _before(direction: float) -> float:
    """Return which share of a text lies before its point: none to the right, all to the left, half in the middle."""
    return 0.0 if direction > 0 else -1.0 if direction < 0 else -0.5


def text_size(text: str) -> tuple[float, float]:
    """Return width and height of a label in points; the height is a line's, for any letters."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    outline = TextPath((0, 0), text, size=LABEL_SIZE, prop=FontProperties(family="DejaVu Sans"))
    return float(outline.get_extents().width) + 1, LABEL_SIZE


def _add_legend(figure: Figure, families: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    entries = [Line2D([], [], **FAMILIES[n], linestyle="none", markersize=MARKER_SIZE, label=n) for n in families]
    entries.append(Line2D([], [], **FRONT, label="Pareto front"))
    figure.legend(handles=entries, loc="lower center", ncols=len(entries), frameon=False, columnspacing=1.4)
