"""Draw Figure 1 of plt2016: macro-F against 1/c."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import Where
from xmlc.suite.papers.plotting import BLUE, GREEN, VERMILION, Style, add_legend, figure, panels
from xmlc.suite.results.records.thresholds import GridScores, ThresholdRecord
from xmlc.suite.results.titles import method_title, model_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    """Draw Figure 1 of plt2016: macro-F of STO, FTA and OFO against 1/c.

    Each pair of a model and a dataset has a panel.
    """
    found: dict[tuple[str, str], list[ThresholdRecord]] = {}
    for record in records:
        found.setdefault((model_title(record.model), record.dataset.name), []).append(record)
    models, datasets = (list(dict.fromkeys(names)) for names in zip(*found))
    by_model = len(datasets) >= len(models)
    # The longer of the two lists, models or datasets, runs across the figure. The shorter list runs down.
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
    drawn = {record.method for record in records}
    entries = [STYLES[m] | {"linestyle": "none", "label": method_title(m)} for m in STYLES if m in drawn]
    for part, line in PARTS.items():
        entries.append({"color": "0.3", "marker": "o", "markerfacecolor": _face(part, "0.3"), "label": part} | line)
    add_legend(sheet, [*entries, CHOSEN | {"label": "chosen on validation"}])
    return sheet


def _wrapped(title: str) -> str:
    return textwrap.fill(title, 16, break_on_hyphens=False)


def _draw_panel(axes: Axes, records: Sequence[ThresholdRecord]) -> None:
    from matplotlib.ticker import LogLocator, MaxNLocator

    for method, style in STYLES.items():
        runs = [record for record in records if record.method == method]
        if not runs:
            continue
        abscissae, curves = _curves(runs)
        for part, line in PARTS.items():
            about: Style = {"label": f"{method_title(method)}, {part}", "markerfacecolor": _face(part, style["color"])}
            axes.plot(abscissae, curves[part], **style, **line, **about, markersize=2.2)
        for record in sorted(runs, key=lambda run: run.seed):
            place = abscissae.index(_place(record.best))
            axes.plot([abscissae[place]], [curves["test"][place]], **CHOSEN, label="_chosen")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=3))
    axes.xaxis.set_minor_formatter("")
    axes.yaxis.set_major_locator(MaxNLocator(5))


def _curves(runs: Sequence[ThresholdRecord]) -> tuple[list[float], dict[str, list[float]]]:
    """Return the values of 1/c in ascending order, and macro-F at these values on each part of the data.

    Macro-F is a mean over seeds, in percent.
    """
    grids = [sorted(run.grid, key=_place) for run in runs]
    values = [[*map(_place, grid)] for grid in grids]
    if any(value != values[0] for value in values):
        first = runs[0]
        raise XmlcError(
            f"figure1: found different grids of c in the seeds of {first.model}, {first.method}, on "
            f"{first.dataset.name}, expected one. Recompute the older records"
        )
    tried = list(zip(*grids, strict=True))
    curves = {
        "validation": [100 * fmean(point.validation["macro_f"] for point in same) for same in tried],
        "test": [100 * fmean(point.test["macro_f"] for point in same) for same in tried],
    }
    return values[0], curves


def _place(point: GridScores) -> float:
    assert point.c is not None  # Only methods without a parameter c have None, and the figure omits these methods.
    return 1 / point.c


def _face(part: str, colour: str) -> str:
    return colour if part == "test" else "white"
