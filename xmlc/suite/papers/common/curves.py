"""Draw Figure 1 of plt2016: macro-F against 1/c."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import Where
from xmlc.suite.papers.plotting import BLUE, GREEN, VERMILION, add_legend, figure, panels
from xmlc.suite.results.records.thresholds import GridScores, ThresholdRecord
from xmlc.suite.results.titles import method_title, model_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Style = dict[str, Any]  # Keyword arguments of matplotlib for a curve.

# Markers distinguish the methods in black-and-white prints.
STYLES: dict[str, Style] = {
    "sto": {"color": VERMILION, "marker": "s"},
    "fta": {"color": BLUE, "marker": "o"},
    "ofo": {"color": GREEN, "marker": "^"},
}
PARTS: dict[str, Style] = {
    "validation": {"linestyle": (0, (4, 2)), "alpha": 0.75},
    "test": {"linestyle": "solid", "alpha": 1.0},
}
CHOSEN: Style = {
    "marker": "o",
    "markersize": 5.5,
    "markerfacecolor": "none",
    "markeredgecolor": "black",
    "linestyle": "none",
}

NARROWEST, MOST = 1.1, 6  # Smallest width of a panel in inches, and largest number of panels in a row.


@figure(
    "figure1",
    Where("thresholds", "80", methods=tuple(STYLES)),
    caption="Macro-F of STO, FTA and OFO against 1/c, with a panel for each model and dataset.",
)
def figure1(paper: str, records: Sequence[ThresholdRecord]) -> Figure:
    """Draw Figure 1 of plt2016: macro-F of STO, FTA and OFO against 1/c. Each model and dataset has a panel."""
    found: dict[tuple[str, str], list[ThresholdRecord]] = {}
    for record in records:
        found.setdefault((model_title(record.model), record.dataset.name), []).append(record)
    models, datasets = (list(dict.fromkeys(names)) for names in zip(*found))
    by_model = len(datasets) >= len(models)
    # The longer of the two lists runs across the figure, and the shorter list runs down.
    down, across = (models, datasets) if by_model else (datasets, models)
    together = -(-len(across) // -(-len(across) // MOST))
    spare = [""] * (-len(across) % together)
    places = [(group, other) for group in down for other in across + spare]
    panel_of = [found.get(place if by_model else place[::-1], ()) for place in places]
    sheet, grid = panels(len(places), NARROWEST, together, shape=1.0)
    spec = grid[0].get_gridspec()
    columns = spec.ncols if spec else len(grid)
    first: dict[str, Axes] = {}  # All panels of a dataset share the vertical axis of its first panel.
    for place, (axes, (group, other), panel) in enumerate(zip(grid, places, panel_of, strict=True)):
        if panel:
            axes.sharey(first.setdefault(other if by_model else group, axes))
            _draw_panel(axes, panel)
            is_last = not any(panel_of[place + columns :: columns])
            axes.tick_params(labelbottom=is_last)
            axes.set_xlabel("1/c" if is_last else "")
        else:
            axes.set(xticks=[], yticks=[], frame_on=False)
            axes.text(0.5, 0.5, "no record" if other else "", ha="center", va="center", color="0.5")
        if place < columns or spare:
            axes.set_title(_wrapped(other))
        if place % together == 0:
            axes.set_ylabel(_wrapped(group))
    sheet.supylabel("macro-F (%)")
    _add_legend(sheet, [method for method in STYLES if any(record.method == method for record in records)])
    return sheet


def _wrapped(title: str) -> str:
    return textwrap.fill(title, 16, break_on_hyphens=False)


def _draw_panel(axes: Axes, records: Sequence[ThresholdRecord]) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    for method, style in STYLES.items():
        runs = [record for record in records if record.method == method]
        if not runs:
            continue
        abscissae, curves = _curves(runs)
        for part, line in PARTS.items():
            face = style["color"] if part == "test" else "white"
            label = f"{method_title(method)}, {part}"
            axes.plot(abscissae, curves[part], **style, **line, label=label, markersize=2.2, markerfacecolor=face)
        for record in sorted(runs, key=lambda run: run.seed):
            place = abscissae.index(1 / _c_of(record, record.best))
            axes.plot([abscissae[place]], [curves["test"][place]], **CHOSEN, label="_chosen")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=3))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_locator(MaxNLocator(5))


def _curves(runs: Sequence[ThresholdRecord]) -> tuple[list[float], dict[str, list[float]]]:
    """Return the values of 1/c in ascending order, and macro-F at these values on each part of the data.

    Macro-F is a mean over seeds, in percent.
    """
    grids = [sorted(run.grid, key=lambda point: 1 / _c_of(run, point)) for run in runs]
    values = [[_c_of(run, point) for point in grid] for run, grid in zip(runs, grids)]
    if any(value != values[0] for value in values):
        first = runs[0]
        raise XmlcError(
            f"figure1: found different grids of c in the seeds of {first.model}, {first.method}, on "
            f"{first.dataset.name}, expected one. Recompute the older records"
        )
    tried = list(zip(*grids, strict=True))
    curves = {
        "validation": [_mean_percent([point.validation for point in same]) for same in tried],
        "test": [_mean_percent([point.test for point in same]) for same in tried],
    }
    return [1 / c for c in values[0]], curves


def _mean_percent(scores: Sequence[Mapping[str, float]]) -> float:
    return 100 * fmean(score["macro_f"] for score in scores)


def _c_of(record: ThresholdRecord, point: GridScores) -> float:
    if point.c is None:
        raise XmlcError(f"figure1: found a grid point without c in a record of {record.method}, expected c")
    return point.c


def _add_legend(sheet: Figure, methods: Sequence[str]) -> None:
    """Add one legend for all panels. The legend explains colours, markers, line styles and the chosen point."""
    from matplotlib.lines import Line2D

    entries = [Line2D([], [], **STYLES[m], linestyle="none", label=method_title(m)) for m in methods]
    for part, line in PARTS.items():
        face = "0.3" if part == "test" else "white"
        entries.append(Line2D([], [], color="0.3", marker="o", markerfacecolor=face, **line, label=part))
    entries.append(Line2D([], [], **CHOSEN, label="chosen on validation"))
    add_legend(sheet, entries)
