"""Figure 1 of plt2016: macro-F against 1/c."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from xmlc.core.errors import XmlcError
from xmlc.papers.plotting import BLUE, GREEN, VERMILION, add_grid, figure
from xmlc.papers.tables.titles import method_title, model_title
from xmlc.records.thresholds import GridScores, ThresholdRecord
from xmlc.suites.needs import THRESHOLDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Style = dict[str, Any]  # arguments of matplotlib

# Markers tell methods apart in print.
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
    "markersize": 8.5,
    "markerfacecolor": "none",
    "markeredgecolor": "black",
    "markeredgewidth": 0.9,
    "linestyle": "none",
}

PANEL_WIDTH, PANEL_HEIGHT = 2.35, 2.1
MARGIN_WIDTH, MARGIN_HEIGHT = 0.9, 1.0
LEGEND_WIDTH, LEGEND_LINE = 6.4, 0.2
NARROWEST = 4.4


@figure("figure1", replace(THRESHOLDS, methods=STYLES.__contains__))
def figure1(paper: str, records: Sequence[ThresholdRecord]) -> Figure:
    """Draw Figure 1 of plt2016: macro-F of STO, FTA and OFO against 1/c, a panel for each model and dataset."""
    models = list(dict.fromkeys(record.model for record in records))
    datasets = list(dict.fromkeys(record.dataset.name for record in records))
    sheet = _sheet(len(models), len(datasets))
    grid = sheet.subplots(len(models), len(datasets), sharex=True, sharey="col", squeeze=False)
    for i, model in enumerate(models):
        for j, dataset in enumerate(datasets):
            panel = [r for r in records if (r.model, r.dataset.name) == (model, dataset)]
            axes = grid[i, j]
            if panel:
                _draw_panel(axes, panel)
            else:
                axes.text(0.5, 0.5, "no record", ha="center", va="center", transform=axes.transAxes, color="0.5")
            axes.set_title(dataset if i == 0 else "")
            axes.set_xlabel("1/c" if i == len(models) - 1 else "")
            axes.set_ylabel(f"{model_title(model)}\nmacro-F (%)" if j == 0 else "")
    drawn = [method for method in STYLES if any(record.method == method for record in records)]
    _add_legend(sheet, drawn)
    return sheet


def _sheet(rows: int, columns: int) -> Figure:
    from matplotlib.figure import Figure

    width = max(MARGIN_WIDTH + PANEL_WIDTH * columns, NARROWEST)
    height = MARGIN_HEIGHT + PANEL_HEIGHT * rows + (0 if width >= LEGEND_WIDTH else LEGEND_LINE)
    return Figure(figsize=(width, height), layout="constrained")


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
            axes.plot(
                abscissae, curves[part], **style, **line, label=label,
                linewidth=1.3, markersize=3.6, markerfacecolor=face, markeredgewidth=0.9,
            )  # fmt: skip
        for record in sorted(runs, key=lambda run: run.seed):
            place = abscissae.index(1 / _c_of(record, record.best))
            axes.plot([abscissae[place]], [curves["test"][place]], **CHOSEN, label="_chosen")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_locator(MaxNLocator(5))
    add_grid(axes)


def _curves(runs: Sequence[ThresholdRecord]) -> tuple[list[float], dict[str, list[float]]]:
    """Return 1/c, ascending, and the macro-F of each part in percent, averaged over seeds."""
    grids = [sorted(run.grid, key=lambda point: 1 / _c_of(run, point)) for run in runs]
    values = [[_c_of(run, point) for point in grid] for run, grid in zip(runs, grids)]
    if any(value != values[0] for value in values):
        first = runs[0]
        raise XmlcError(
            f"figure1: the seeds of {first.model}, {first.method}, on {first.dataset.name} tried different "
            "values of c; expected one grid: make the older records again"
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
        raise XmlcError(f"figure1: a record of {record.method} has a grid point without c; 1/c is the abscissa")
    return point.c


def _add_legend(sheet: Figure, methods: Sequence[str]) -> None:
    """Put one legend below all panels: colours and markers, lines, the chosen point."""
    from matplotlib.lines import Line2D

    entries = [Line2D([], [], **STYLES[m], linestyle="none", markersize=5, label=method_title(m)) for m in methods]
    for part, line in PARTS.items():
        face = "0.3" if part == "test" else "white"
        entries.append(
            Line2D([], [], color="0.3", marker="o", markersize=3.6, markerfacecolor=face, **line, label=part)
        )
    entries.append(Line2D([], [], **CHOSEN, label="chosen on validation"))
    columns = len(entries) if sheet.get_figwidth() >= LEGEND_WIDTH else 3
    sheet.legend(
        handles=entries,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        handlelength=2.6,
        handletextpad=0.5,
        columnspacing=1.4,
    )
