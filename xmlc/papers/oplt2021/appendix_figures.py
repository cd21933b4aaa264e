"""Figures of Appendices F and G of oplt2021, made on request: what alpha and the warm start's sample do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xmlc.papers.oplt2021.appendices import ALPHAS, SAMPLES, with_samples
from xmlc.plotting import BLUE, GREEN, VERMILION, add_grid, figure
from xmlc.records import sweep
from xmlc.records.sweep import SweepRecord
from xmlc.tables.titles import model_title

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PRECISION = {"p@1": "P@1", "p@3": "P@3", "p@5": "P@5"}
TIMES = {"train_seconds": "training", "predict_ms": "prediction"}
COLOURS = {"p@1": BLUE, "p@3": VERMILION, "p@5": GREEN, "train_seconds": BLUE, "predict_ms": VERMILION, "depth": BLUE}
MARKERS = {"p@1": "o", "p@3": "s", "p@5": "^", "train_seconds": "o", "predict_ms": "s", "depth": "o"}
DASHED: dict[str, Any] = {"linestyle": (0, (4, 2)), "markerfacecolor": "white"}
LINE: dict[str, Any] = {"linewidth": 1.3, "markersize": 4.0, "markeredgewidth": 0.9}
PANEL = (2.7, 2.5)
LEGEND_ROOM = 0.15  # above the lines, as a share of the height
NARROWEST = 5.0  # has room for the legend
PRINTED_ALPHA = 0.75  # of the paper's tables (Section 5)


@figure("alpha", ALPHAS)
def alpha(paper: str, records: Sequence[SweepRecord]) -> Figure:
    """Draw Appendix F: P@k, depth and times against alpha, a row of panels for each dataset; means over seeds."""
    frame = sweep.frame(records)
    names = list(dict.fromkeys(frame["dataset"]))
    sheet, grid = _sheet(len(names), 3)
    for row, name in zip(grid, names, strict=True):
        means = _means(frame[frame["dataset"] == name], "alpha")
        _draw(row[0], means, PRECISION)
        _label(row[0], name, "alpha", "%")
        _draw(row[1], means, {"depth": "depth"})
        _label(row[1], name, "alpha", "depth")
        row[1].set_ylim(bottom=0)
        _draw(row[2], means / means.loc[_printed(means)], TIMES)
        _label(row[2], name, "alpha", f"time (alpha = {_printed(means):g}: 1)")
        row[2].set_ylim(bottom=0)
    bottom, top = grid[0][0].get_ylim()
    grid[0][0].set_ylim(bottom, top + LEGEND_ROOM * (top - bottom))
    grid[0][0].legend(frameon=False, fontsize=7.5, loc="upper center", ncols=3, columnspacing=1.0, handlelength=1.6)
    grid[0][2].legend(frameon=False, fontsize=7.5)
    return sheet


@figure("warmstart", SAMPLES)
def warmstart(paper: str, records: Sequence[SweepRecord]) -> Figure:
    """Draw Appendix G: P@k of OPLT-W against the size of its sample, and of IPLT on that alone; means over seeds."""
    frame = with_samples(records)
    names = list(dict.fromkeys(frame["dataset"]))
    models = list(dict.fromkeys(frame["model"]))
    sheet, grid = _sheet(1, len(names))
    for axes, name in zip(grid[0], names, strict=True):
        for place, model in enumerate(models):
            own = frame[(frame["dataset"] == name) & (frame["model"] == model)]
            method = model_title(model) + (", sample alone" if place else "")
            titles = {key: f"{title}, {method}" for key, title in PRECISION.items()}
            _draw(axes, _means(own, "sample"), titles, **(DASHED if place else {}))
        axes.set_xscale("log")
        axes.set_xticks(sorted(set(frame["sample"])), [f"{value:g}" for value in sorted(set(frame["sample"]))])
        axes.minorticks_off()
        _label(axes, name, "sample, % of the training set", "%")
    handles, titles = grid[0][0].get_legend_handles_labels()
    sheet.legend(handles, titles, loc="outside lower center", ncols=len(models), frameon=False, handlelength=2.8)
    return sheet


def _sheet(rows: int, columns: int) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(max(PANEL[0] * columns, NARROWEST), PANEL[1] * rows + 0.3), layout="constrained")
    return sheet, sheet.subplots(rows, columns, squeeze=False)


def _means(frame: pd.DataFrame, key: str) -> pd.DataFrame:
    """Return the means over seeds of all that is drawn, by the value of a hyperparameter, ascending."""
    return frame.groupby(key)[[*PRECISION, *TIMES, "depth"]].mean()


def _printed(means: pd.DataFrame) -> float:
    return PRINTED_ALPHA if PRINTED_ALPHA in means.index else float(means.index[-1])


def _draw(axes: Axes, means: pd.DataFrame, titles: dict[str, str], **style: Any) -> None:
    for key, title in titles.items():
        axes.plot(means.index, means[key], color=COLOURS[key], marker=MARKERS[key], label=title, **LINE, **style)


def _label(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    add_grid(axes)
