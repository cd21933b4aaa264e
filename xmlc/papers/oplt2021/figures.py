"""Figures of oplt2021: progressive validation (Figure 2), and the sweeps of Appendices F and G."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.numbers.long import frame_of
from xmlc.numbers.titles import model_title, without_passes
from xmlc.papers.oplt2021.tables import ALPHAS, SAMPLES, sampled, swept
from xmlc.papers.plotting import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, add_legend, figure, panels
from xmlc.records.progressive import ProgressiveRecord
from xmlc.records.sweep import SweepRecord
from xmlc.suites.planned import STREAMS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Records = Sequence[ProgressiveRecord]

# Lines differ too, for print.
STYLES: dict[str, dict[str, Any]] = {
    "oplt-b": {"color": BLUE, "linestyle": "solid"},
    "oplt-r": {"color": VERMILION, "linestyle": (0, (5, 1.5))},
    "cmt": {"color": GREEN, "linestyle": (0, (1.2, 1.2))},
}
OTHERS = (PURPLE, ORANGE, SKY, BLACK)
NARROWEST = 1.6  # panel, in inches
FIRST = 10  # instances from which on curves are drawn: before, each single one makes them jump


@figure("figure2", STREAMS)
def figure2(paper: str, records: Records) -> Figure:
    """Draw Figure 2: entropy reduction against the number of instances seen, a panel for each dataset.

    Accuracies are averaged over seeds, then their logarithm is taken.
    """
    from xmlc.metrics.progressive import entropy_reduction  # which loads numba, and declarations do not need it

    def bits(runs: Records) -> list[float]:
        accuracies = [fmean(row.accuracy for row in same) for same in zip(*(run.rows for run in runs), strict=True)]
        return entropy_reduction(np.array(accuracies), fmean(run.constant_accuracy for run in runs)).tolist()

    return _panels(records, bits, "entropy reduction (bits)")


def _panels(records: Records, curve: Callable[[Records], list[float]], label: str) -> Figure:
    from matplotlib.lines import Line2D

    datasets = list(dict.fromkeys(record.dataset.name for record in records))
    models = list(dict.fromkeys(record.model for record in records))
    sheet, grid = panels(len(datasets), NARROWEST)
    for axes, dataset in zip(grid, datasets, strict=True):
        for model in models:
            runs = [r for r in records if (r.dataset.name, r.model) == (dataset, model)]
            if runs:
                seen = _instances(runs)
                points = [(t, value) for t, value in zip(seen, curve(runs)) if t >= min(FIRST, seen[-1])]
                axes.plot(*zip(*points), **_style(model, models))
        axes.set_xscale("log")
        _label_axes(axes, dataset, "instances seen", label)
    add_legend(sheet, [Line2D([], [], label=_title(model), **_style(model, models)) for model in models])
    return sheet


def _instances(runs: Records) -> list[int]:
    """Return the numbers of instances of a curve, which all seeds of a model share."""
    found = [[row.instances for row in run.rows] for run in runs]
    if any(instances != found[0] for instances in found):
        first = runs[0]
        raise XmlcError(
            f"figure: the seeds of {first.model} on {first.dataset.name} were scored after different numbers "
            "of instances; make the older records again"
        )
    return found[0]


def _title(model: str) -> str:
    base, passes = without_passes(model)
    return model_title(base if passes == 1 else model)  # a stream is one pass


def _style(model: str, models: Sequence[str]) -> dict[str, Any]:
    base, _ = without_passes(model)
    return STYLES.get(base) or {"color": OTHERS[models.index(model) % len(OTHERS)], "linestyle": "solid"}


PRECISION = {"p@1": "P@1", "p@3": "P@3", "p@5": "P@5"}
TIMES = {"train_seconds": "training", "predict_ms": "prediction"}
DRAWN = (*PRECISION, *TIMES, "depth")
COLOURS = {"p@1": BLUE, "p@3": VERMILION, "p@5": GREEN, "train_seconds": PURPLE, "predict_ms": ORANGE, "depth": BLACK}
MARKERS = {"p@1": "o", "p@3": "s", "p@5": "^", "train_seconds": "D", "predict_ms": "v", "depth": "o"}
DASHED: dict[str, Any] = {"linestyle": (0, (4, 2)), "markerfacecolor": "white"}
PRINTED_ALPHA = 0.75  # of the paper's tables (Section 5)


@figure("alpha", ALPHAS)
def alpha(paper: str, records: Sequence[SweepRecord]) -> Figure:
    """Draw Appendix F: P@k, depth and times against alpha, a row of panels for each dataset; means over seeds."""
    frame = frame_of(records, ("dataset", "alpha"), DRAWN, swept)
    names = list(dict.fromkeys(frame["dataset"]))
    sheet, grid = panels(3 * len(names), NARROWEST, together=3, shape=0.7)
    for place, name in enumerate(names):
        precision, depth, times = grid[3 * place : 3 * place + 3]
        means = frame[frame["dataset"] == name].set_index("alpha").sort_index()[list(DRAWN)]
        _draw(precision, means, PRECISION)
        _label_axes(precision, name, "alpha", "%")
        _draw(depth, means, {"depth": "depth"})
        _label_axes(depth, name, "alpha", "depth")
        depth.set_ylim(bottom=0)
        _draw(times, means / means.loc[_printed(means)], TIMES)
        _label_axes(times, name, "alpha", f"time (alpha = {_printed(means):g}: 1)")
        times.set_ylim(bottom=0)
    add_legend(sheet, [*grid[0].get_lines(), *grid[2].get_lines()])
    return sheet


@figure("warmstart", SAMPLES)
def warmstart(paper: str, records: Sequence[SweepRecord]) -> Figure:
    """Draw Appendix G: P@k of OPLT-W against the size of its sample, and of IPLT on that alone; means over seeds."""
    frame = frame_of(records, ("dataset", "sample", "model"), DRAWN, sampled)
    names = list(dict.fromkeys(frame["dataset"]))
    models = list(dict.fromkeys(frame["model"]))
    sheet, grid = panels(len(names), NARROWEST)
    for axes, name in zip(grid, names, strict=True):
        for place, model in enumerate(models):
            own = frame[(frame["dataset"] == name) & (frame["model"] == model)]
            method = model_title(model) + (", sample alone" if place else "")
            titles = {key: f"{title}, {method}" for key, title in PRECISION.items()}
            _draw(axes, own.set_index("sample").sort_index(), titles, **(DASHED if place else {}))
        axes.set_xscale("log")
        axes.set_xticks(sorted(set(frame["sample"])), [f"{value:g}" for value in sorted(set(frame["sample"]))])
        axes.minorticks_off()
        _label_axes(axes, name, "sample (% of training)", "%")
    add_legend(sheet, grid[0].get_lines())
    return sheet


def _printed(means: pd.DataFrame) -> float:
    return PRINTED_ALPHA if PRINTED_ALPHA in means.index else float(means.index[-1])


def _draw(axes: Axes, means: pd.DataFrame, titles: dict[str, str], **style: Any) -> None:
    for key, title in titles.items():
        axes.plot(means.index, means[key], color=COLOURS[key], marker=MARKERS[key], label=title, **style)


def _label_axes(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
