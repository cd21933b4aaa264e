"""Draw Figure 1 of plt2016: macro-F against 1/c."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import Where
from xmlc.suite.papers import plotting
from xmlc.suite.papers.plotting import BLUE, GREEN, VERMILION, Style
from xmlc.suite.results.records.thresholds import GridScores, ThresholdRecord
from xmlc.suite.results.titles import method_title, model_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A marker shows a value of c that is chosen on the validation set of a seed.
STYLES: dict[str, Style] = {
    "sto": {"color": VERMILION, "marker": "s"},
    "fta": {"color": BLUE, "marker": "o"},
    "ofo": {"color": GREEN, "marker": "^"},
}
PARTS: dict[str, Style] = {"validation": {"linestyle": (0, (4, 2)), "linewidth": 0.7}, "test": {}}
CHOSEN: Style = {"markersize": 3.5, "markeredgecolor": "black", "markeredgewidth": 0.5, "linestyle": "none"}

NARROWEST, MOST = 1.1, 6  # Smallest width of a panel in inches, and largest number of panels in a row.


@plotting.figure(
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
    # Each dataset has a row of panels with a common vertical axis. If there is only one model, all datasets share a
    # row.
    is_single = len(models) == 1
    down, across = (models, datasets) if is_single else (datasets, models)
    together = -(-len(across) // -(-len(across) // MOST))
    spare = [""] * (-len(across) % together)
    places = [(group, other) for group in down for other in across + spare]
    panel_of = [found.get(place if is_single else place[::-1], ()) for place in places]
    sheet, grid = plotting.panels(len(places), NARROWEST, together)
    spec = grid[0].get_gridspec()
    columns = spec.ncols if spec else len(grid)
    first: dict[str, Axes] = {}
    for axes in grid[1:]:
        axes.sharex(grid[0])
    for place, (axes, (group, other), panel) in enumerate(zip(grid, places, panel_of, strict=True)):
        is_last, is_left = place + columns >= len(grid), place % together == 0
        if panel:
            axes.sharey(first.setdefault(other if is_single else group, axes))
            _draw_panel(axes, panel)
        else:
            axes.set(yticks=[], frame_on=False)
            axes.grid(visible=False)
            axes.text(0.5, 0.5, "no record" if other else "", transform=axes.transAxes, ha="center", color="0.4")
        axes.tick_params(bottom=bool(panel), left=bool(panel), labelbottom=is_last, labelleft=is_single or is_left)
        axes.set(xlabel="1/c" if is_last else "", ylabel=_wrapped(group) if is_left else "")
        if place < columns or spare:
            axes.set_title(_wrapped(other))
    grid[0].set_xscale("log")
    plotting.log_ticks(grid[0].xaxis)
    sheet.supylabel("macro-F (%)")
    drawn = {record.method for record in records}
    chosen = [STYLES[m] | CHOSEN | {"label": f"{method_title(m)}, chosen on validation"} for m in STYLES if m in drawn]
    plotting.add_legend(sheet, [*({"color": "0.3", "label": part} | line for part, line in PARTS.items()), *chosen])
    plotting.label_lines(grid[columns - 1 :: columns])
    return sheet


def _wrapped(title: str) -> str:
    return textwrap.fill(title, 16, break_on_hyphens=False)


def _draw_panel(axes: Axes, records: Sequence[ThresholdRecord]) -> None:
    for method, style in STYLES.items():
        runs = [record for record in records if record.method == method]
        if not runs:
            continue
        abscissae, curves = _curves(runs)
        for part, line in PARTS.items():
            title = method_title(method) if part == "test" else f"_{method_title(method)}, {part}"
            axes.plot(abscissae, curves[part], color=style["color"], **line, label=title)
        chosen = sorted({abscissae.index(_place(record.best)) for record in runs})
        points = [(abscissae[place], curves["test"][place]) for place in chosen]
        axes.plot(*zip(*points), **style, **CHOSEN, label="_chosen")


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
    assert point.c is not None  # Only methods without a parameter c have None as c, and the figure omits these methods.
    return 1 / point.c
