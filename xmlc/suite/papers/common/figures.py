"""Define the figures that every suite has. A paper's figure of the same name takes precedence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import Where
from xmlc.suite.papers import plotting
from xmlc.suite.papers.common.curves import figure1 as figure1
from xmlc.suite.papers.notes import threads_of
from xmlc.suite.papers.plotting import BLUE, GREEN, VERMILION, Style
from xmlc.suite.results.frame import Rows, Source, average, numbers_of
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.titles import family, model_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MODEL_KEYS = ("dataset", "model")
QUALITY = "p@1"
COSTS = {"train_seconds": "training (s)", "predict_ms": "prediction (ms per instance)"}
# Models of one program share a colour and a marker.
STYLES: dict[str, Style] = {
    name: {"color": colour, "marker": marker, "linestyle": "none", "markersize": 4}
    for name, colour, marker in (("xmlc", BLUE, "o"), ("napkinXC", VERMILION, "s"), ("omikuji", GREEN, "^"))
}
FRONT: Style = {"color": "0.55", "linewidth": 1.0, "linestyle": (0, (4, 2)), "zorder": 1}
# Inches: smallest width of a panel, height of a panel without names, and additional height for each name.
NARROWEST, AROUND, NAME = 2.4, 1.2, 0.11


@plotting.figure(
    "pareto",
    Where("ranking", "full", baselines=True),
    caption="P@1 against training time and prediction time per instance. The dashed line is the Pareto front.",
)
def pareto(paper: str, records: Sequence[RankingRecord]) -> Figure:
    """Draw P@1 against training time and prediction time per instance. A dashed line shows the Pareto front.

    Parameters
    ----------
    paper : str
    records : sequence of RankingRecord
        Records of rankings, which are averaged over seeds. Models without costs, such as an oracle, are left out.

    Raises
    ------
    XmlcError
        No record has a cost.
    """
    groups: dict[str, Rows] = {}
    for key, numbers in average(numbers_of(Source(Path(), record) for record in records), MODEL_KEYS).items():
        if all(cost in numbers and not numbers[cost].is_missing for cost in COSTS):
            groups.setdefault(key[0], {})[key] = numbers
    if not groups:
        raise XmlcError("pareto: found no record with the times of training and prediction, expected at least one")
    sheet, grid = plotting.panels(len(COSTS) * len(groups), NARROWEST, together=len(COSTS))
    sheet.set_figheight(len(groups) * (AROUND + NAME * max(map(len, groups.values()))))
    for place, (dataset, rows) in enumerate(groups.items()):
        left, right = row = grid[len(COSTS) * place : len(COSTS) * (place + 1)]
        right.sharey(left)
        for axes, (cost, title) in zip(row, COSTS.items(), strict=True):
            _draw_panel(axes, rows, cost)
            axes.set_xlabel(title)
        left.set_ylabel("P@1 (%)")
        left.set_title(dataset, loc="left")
        right.tick_params(labelleft=False)
        threads = threads_of(rows, ("train_threads", "predict_threads"))
        right.set_title(threads, loc="right", color="0.4", fontsize="medium")
    programs = dict.fromkeys(family(model) for rows in groups.values() for _, model in rows)
    plotting.add_legend(
        sheet, [*(STYLES[name] | {"label": name} for name in programs), FRONT | {"label": "Pareto front"}]
    )
    plotting.label_points(grid)
    return sheet


def pareto_front(costs: Sequence[float], quality: Sequence[float]) -> list[int]:
    """Return the indices of the points on the Pareto front, with the cheapest point first.

    A point is on the front if no other point is better at the same or a lower cost, or cheaper at the same quality.
    Only the first of several equal points is returned.
    """
    front: list[int] = []
    for place in sorted(range(len(costs)), key=lambda i: (costs[i], -quality[i])):
        if not front or quality[place] > quality[front[-1]]:
            front.append(place)
    return front


def _draw_panel(axes: Axes, rows: Rows, cost: str) -> None:
    costs, quality = (np.array([row[name].value for row in rows.values()]) for name in (cost, QUALITY))
    axes.set_xscale("log")
    axes.margins(0.12)
    for x, y, (_, model) in zip(costs, quality, rows):
        axes.plot([x], [y], **STYLES[family(model)], label=model_title(model))
    left, right = axes.get_xlim()
    axes.set_xlim(left, right)
    front = pareto_front(costs.tolist(), quality.tolist())
    axes.step([*costs[front], right], [*quality[front], quality[front[-1]]], where="post", label="_front", **FRONT)
    plotting.log_ticks(axes.xaxis)
