"""Figure 2 of oplt2021: entropy reduction in progressive validation; and, which it does not have, macro-F of OFO."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xmlc.errors import XmlcError
from xmlc.papers.oplt2021.appendix_figures import alpha as alpha
from xmlc.papers.oplt2021.appendix_figures import warmstart as warmstart
from xmlc.plotting import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, add_grid, figure
from xmlc.records.base import known
from xmlc.records.progressive import ProgressiveRecord
from xmlc.suites.needs import FEW_SHOT_STREAMS, MULTI_LABEL_STREAMS
from xmlc.tables.titles import model_title, without_passes

if TYPE_CHECKING:
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
PANEL = (3.3, 2.6)
COLUMNS = 3
FIRST = 10  # instances from which on curves are drawn: before, each single one makes them jump


@figure("figure2", FEW_SHOT_STREAMS)
def figure2(paper: str, records: Records) -> Figure:
    """Draw Figure 2: entropy reduction against the number of instances seen, a panel for each dataset.

    Accuracies are averaged over seeds, then their logarithm is taken.
    """
    from xmlc.metrics.progressive import entropy_reduction  # which loads numba, and declarations do not need it

    def bits(runs: Records) -> list[float]:
        accuracies = np.mean([[row.accuracy for row in run.rows] for run in runs], axis=0)
        return entropy_reduction(accuracies, float(np.mean([run.constant_accuracy for run in runs]))).tolist()

    return _panels(records, bits, "entropy reduction (bits)")


@figure("macrof", MULTI_LABEL_STREAMS)
def macrof(paper: str, records: Records) -> Figure:
    """Draw the progressive macro-F of OFO run together with the training, over the labels that came so far.

    Raises
    ------
    XmlcError
        No model predicted label sets.
    """
    records = [record for record in records if record.rows[-1].macro_f_present is not None]
    if not records:
        raise XmlcError("figure: no record has a progressive macro-F; expected a model with progressive_sets")

    def percent(runs: Records) -> list[float]:
        return (100 * np.mean([[known(row.macro_f_present) for row in run.rows] for run in runs], axis=0)).tolist()

    sheet = _panels(records, percent, "macro-F, labels so far (%)")
    sheet.suptitle("Not in the paper. Label sets by OFO, run with the training,\nbefore each is learned", fontsize=8)
    return sheet


def _panels(records: Records, curve: Callable[[Records], list[float]], label: str) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    datasets = list(dict.fromkeys(record.dataset.name for record in records))
    models = list(dict.fromkeys(record.model for record in records))
    columns = min(len(datasets), COLUMNS)
    rows = -(-len(datasets) // columns)
    size = (max(PANEL[0] * columns, 4.6), PANEL[1] * rows + 0.5)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(datasets) :]:
        axes.set_axis_off()
    for axes, dataset in zip(grid.flat, datasets):
        for model in models:
            runs = [r for r in records if (r.dataset.name, r.model) == (dataset, model)]
            if runs:
                seen = _instances(runs)
                points = [(t, value) for t, value in zip(seen, curve(runs)) if t >= min(FIRST, seen[-1])]
                axes.plot(*zip(*points), linewidth=1.4, **_style(model, models))
        axes.set_title(dataset)
        _label(axes, label)
    handles = [Line2D([], [], label=_title(model), linewidth=1.4, **_style(model, models)) for model in models]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, handlelength=2.8)
    return figure


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


def _label(axes: Axes, label: str) -> None:
    axes.set_xscale("log")
    axes.set_xlabel("instances seen")
    axes.set_ylabel(label)
    add_grid(axes)
