"""Draw Figure 2 of oplt2021: progressive validation."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import STREAMS
from xmlc.suite.papers import plotting
from xmlc.suite.papers.plotting import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, Style
from xmlc.suite.results.records.progressive import ProgressiveRecord
from xmlc.suite.results.titles import model_title, without_passes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


ProgressiveRecords = Sequence[ProgressiveRecord]

# Line styles distinguish curves in black-and-white prints. A policy has the same style for both rules of tree growth.
STYLES: dict[str, Style] = {
    "oplt-b": {"color": BLUE, "linestyle": "solid"},
    "oplt-r": {"color": VERMILION, "linestyle": (0, (5, 1.5))},
    "oplt-b-program": {"color": SKY, "linestyle": "solid"},
    "oplt-r-program": {"color": ORANGE, "linestyle": (0, (5, 1.5))},
    "cmt": {"color": GREEN, "linestyle": (0, (1.2, 1.2))},
}
OTHERS = (PURPLE, ORANGE, SKY, BLACK)
FIRST = 10  # Number of instances at which curves begin, because earlier values vary too much.


@plotting.figure(
    "figure2", STREAMS, caption="Entropy reduction against the number of instances seen, with a panel for each dataset."
)
def figure2(paper: str, records: ProgressiveRecords) -> Figure:
    """Draw Figure 2: entropy reduction against the number of instances seen. Each dataset has a panel.

    Entropy reduction is computed from accuracies that are averaged over seeds before taking logarithms.
    """
    from xmlc.metrics.progressive import entropy_reduction  # This import loads numba.

    datasets = list(dict.fromkeys(record.dataset.name for record in records))
    models = enumerate(dict.fromkeys(record.model for record in records))
    styles = {model: _style(model, place) for place, model in models}
    sheet, grid = plotting.panels(len(datasets), 3)
    for axes, dataset in zip(grid, datasets, strict=True):
        for model, style in styles.items():
            runs = [r for r in records if (r.dataset.name, r.model) == (dataset, model)]
            if runs:
                seen = _instances(runs)
                means = [fmean(row.accuracy for row in same) for same in zip(*(run.rows for run in runs), strict=True)]
                bits = entropy_reduction(np.array(means), fmean(run.constant_accuracy for run in runs)).tolist()
                points = [(t, value) for t, value in zip(seen, bits) if t >= min(FIRST, seen[-1])]
                axes.plot(*zip(*points), **style)
        axes.set(xscale="log", title=dataset, xlabel="instances seen", ylabel="entropy reduction (bits)")
        plotting.log_ticks(axes.xaxis)
    plotting.label_lines(grid)
    return sheet


def _instances(runs: ProgressiveRecords) -> list[int]:
    """Return the numbers of instances at the points of a curve, which must be equal for all seeds of a model."""
    found = [[row.instances for row in run.rows] for run in runs]
    if any(instances != found[0] for instances in found):
        first = runs[0]
        raise XmlcError(
            f"figure: found seeds of {first.model} on {first.dataset.name} scored after different numbers of "
            "instances, expected the same. Recompute the older records"
        )
    return found[0]


def _style(model: str, place: int) -> Style:
    base, passes = without_passes(model)
    # A stream is one pass, so the title omits the number of passes.
    title = model_title(base if passes == 1 else model)
    style = STYLES.get(base) or {"color": OTHERS[place % len(OTHERS)], "linestyle": "solid"}
    return {"label": title, **style}
