"""Draw the figures of ldsm2020.

The figures show scores against the number and the size of trees, and scores of single trees. The figures also
show depths of trees and objectives of each level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.suite.config.planned import FORESTS, RANKINGS, Where
from xmlc.suite.papers import plotting
from xmlc.suite.papers.plotting import BLUE, GREEN, VERMILION, FigureDefinition, Style, figure
from xmlc.suite.results.records.base import Record
from xmlc.suite.results.records.forest import ForestRecord
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.records.sweep import SweepRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

R = TypeVar("R", bound=Record)
PercentByMeasure = dict[str, float]  # Maps a measure to a score in percent.

OURS, OTHER = "ldsm", "fastxml"
# Model `BINARY` has binary trees on delicious, as in Figures 1, 3 and 7. Table 4 has M = 4 for delicious.
BINARY = "ldsm-mean"
EXEMPLARY_DATASET = "delicious"  # The dataset in Figure 1.
SIZES = Where("sweep", "full", sweeps=("max-nodes",))
# Each k has a colour and a marker. Lines for precision are solid, and lines for nDCG are dashed.
COLOURS = {1: BLUE, 3: VERMILION, 5: GREEN}
MARKERS = {1: "o", 3: "s", 5: "^"}
TITLES = {"p": "P", "ndcg": "nDCG"}
LINES: dict[str, Style] = {"p": {}, "ndcg": {"linestyle": (0, (4, 2)), "markerfacecolor": "white"}}
STYLES: dict[str, Style] = {
    f"{metric}@{k}": {"label": f"{TITLES[metric]}@{k}", "color": COLOURS[k], "marker": MARKERS[k], **line}
    for metric, line in LINES.items()
    for k in COLOURS
}
DRAWN = [name for name in STYLES if name != "ndcg@1"]  # nDCG@1 equals P@1.
FEW_LEVELS = 5
WITH_NAMES = 2.0  # The smallest width in inches of a panel with names of lines.
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
SHADES = ("0.6", GREEN, VERMILION, BLUE)  # Colours of lines in Figure 2, one for each arity.


OURS_GROWN, BINARY_GROWN, COMPARED = (replace(FORESTS, models=names) for names in ((OURS,), (BINARY,), (OURS, OTHER)))


@figure("figure4", OURS_GROWN, caption="P@k and nDCG@k against the number of trees, with a panel for each dataset.")
def figure4(paper: str, records: Sequence[ForestRecord]) -> Figure:
    """Draw Figure 4, which shows P@k and nDCG@k against the number of trees. Each dataset has a panel."""
    return _panels(records, _draw_growth)


@figure(
    "figure5",
    replace(SIZES, models=(OURS,)),
    caption="P@k and nDCG@k against the maximum number of nodes per tree, and the resulting depth.",
)
def figure5(paper: str, records: Sequence[SweepRecord]) -> Figure:
    """Draw Figure 5, which shows P@k, nDCG@k and depth against the maximum number of nodes per tree."""
    return _panels(records, _draw_sweep)


@figure(
    "figure6", COMPARED, RANKINGS, caption="Single trees and ensembles, precision on the left and nDCG on the right."
)
def figure6(paper: str, forests: Sequence[ForestRecord], rankings: Sequence[RankingRecord]) -> Figure:
    """Draw Figure 6, which shows scores of single trees and ensembles, precision on the left and nDCG on the right."""
    names = _datasets(forests)
    sheet, grid = plotting.panels(2 * len(names), together=2, shape=1.0)
    for place, name in enumerate(names):
        _draw_bars(grid[2 * place :], _of_dataset(forests, name), _of_dataset(rankings, name))
        grid[2 * place].set_title(name, loc="left")
    _add_legend_of_bars(sheet)
    return sheet


@figure(
    "figure1",
    FORESTS,
    SIZES,
    RANKINGS,
    caption="Figure 1 for Delicious or another dataset. Above: number and size of trees. Below: single trees.",
)
def figure1(
    paper: str, forests: Sequence[ForestRecord], sweeps: Sequence[SweepRecord], rankings: Sequence[RankingRecord]
) -> Figure:
    """Draw Figure 1 for Delicious, or for the first dataset if Delicious was not run.

    The upper panels show scores against the number and the size of trees. The lower panels show scores of single trees.
    """
    names = _datasets([*forests, *sweeps, *rankings])
    name = EXEMPLARY_DATASET if EXEMPLARY_DATASET in names else names[0]
    sheet, grid = plotting.panels(4, 3, shape=0.6)
    own = _of_dataset(forests, name)
    above: list[tuple[Callable[..., None], Sequence[ForestRecord | SweepRecord]]] = [
        (_draw_growth, [record for record in own if record.model == BINARY]),
        (_draw_sweep, _of_dataset(sweeps, name)),
    ]
    for axes, (draw, records) in zip(grid, above):
        if records:
            draw(axes, records)
            axes.set_title(f"{records[0].model}, M = {records[0].setting('arity'):g}")
        else:
            axes.set_axis_off()
    _draw_bars(grid[2:], own, _of_dataset(rankings, name))
    sheet.suptitle(name)
    _add_legend_of_bars(sheet)
    plotting.label_lines(grid)
    return sheet


@figure(
    "figure2",
    OURS_GROWN,
    caption="Depth of the deepest tree against the number of labels K, with lines at 1, 2 and 3 times log_M K.",
)
def figure2(paper: str, records: Sequence[ForestRecord]) -> Figure:
    """Draw Figure 2: depth of the deepest tree against the number of labels K.

    Lines show 1, 2 and 3 times log_M K, the depth of a balanced tree with M children per node.
    """
    sheet, (axes,) = plotting.panels(1)
    depths_of: dict[tuple[float, str, float], list[int]] = {}
    for record in records:
        place = record.dataset.m, record.dataset.name, record.setting("arity")
        depths_of.setdefault(place, []).extend([max(record.trees.depths)] if record.trees else [])
    points = sorted((m, fmean(depths), name, arity) for (m, name, arity), depths in depths_of.items() if depths)
    for x, y, name, arity in points:
        axes.plot([x], [y], color=COLOURS[1], marker="o", label=f"{name}, M = {arity:g}")
    # The lines are straight on a logarithmic scale, so two points suffice.
    ends = np.array([points[0][0] / 2, 2 * points[-1][0]])
    for arity, colour in zip(sorted({arity for *_, arity in points}), SHADES):
        for factor, style in ((1, "solid"), (2, "dashed"), (3, "dotted")):
            depths, base = factor * np.log(ends) / math.log(arity), f"{arity:g}".translate(SUBSCRIPTS)
            axes.plot(ends, depths, color=colour, linestyle=style, label=f"{factor} log{base} K")
    axes.set(xscale="log", xlim=ends, ylim=(0, None), xlabel="labels K", ylabel="depth of the deepest tree")
    plotting.log_ticks(axes.xaxis)
    plotting.label_lines([axes])
    plotting.label_points([axes])
    return sheet


def _objectives_figure(name: str, trees: int) -> FigureDefinition:
    """Declare Figure 3 (one tree) or Figure 7 (two trees): the objective J against epochs, for each level of a tree.

    A line shows the mean of J over the nodes of a level. The band of a line extends from the smallest to the largest J
    of the nodes of a level. Dotted lines show the bounds of J (Lemma 1).
    """

    @figure(name, BINARY_GROWN, caption="The objectives J against epochs, for each level of a tree.")
    def draw(paper: str, records: Sequence[ForestRecord]) -> Figure:
        """Draw the objective J against epochs, for each level of a tree."""
        names = _datasets(records)
        sheet, grid = plotting.panels(trees * len(names), WITH_NAMES)
        for axes, (name, tree) in zip(grid, product(names, range(trees)), strict=True):
            record = next(record for record in records if record.dataset.name == name)
            _draw_objectives(axes, record, tree)
            axes.set_title(f"{name}, tree {tree + 1}")
        plotting.label_lines(grid)
        return sheet

    return draw


figure3 = _objectives_figure("figure3", trees=1)
figure7 = _objectives_figure("figure7", trees=2)


def _draw_growth(axes: Axes, records: Sequence[ForestRecord]) -> None:
    _draw_scores(axes, _scores_by_trees(records))
    axes.set(xlabel="trees", ylabel="score (%)")


def _draw_sweep(axes: Axes, records: Sequence[SweepRecord]) -> None:
    name = "T_max" if records[0].hyperparameter == "max_nodes" else records[0].hyperparameter
    scores = _mean_scores([(_number(row.value), row.metrics) for record in records for row in record.rows])
    _draw_scores(axes, scores)
    axes.set_xscale("log")
    plotting.log_ticks(axes.xaxis, list(scores), lambda value: _with_depth(records, value))
    axes.set(xlabel=f"{name}, with the depth below", ylabel="score (%)")


def _with_depth(records: Sequence[SweepRecord], value: float) -> str:
    depths = [row.depth for record in records for row in record.rows if row.value == value]
    known = [depth for depth in depths if depth is not None]
    return f"{value:g}\n{fmean(known):g}" if len(known) == len(depths) else f"{value:g}"


def _draw_scores(axes: Axes, scores: dict[float, PercentByMeasure]) -> None:
    for name in DRAWN:
        axes.plot(list(scores), [row[name] for row in scores.values()], **STYLES[name])


def _draw_bars(grid: Sequence[Axes], forests: Sequence[ForestRecord], rankings: Sequence[RankingRecord]) -> None:
    """Draw precision in the first panel and nDCG in the second panel, for the trees and ensembles of one dataset.

    In the names of the bars, 1 is the first tree of an ensemble, and 1* is the best single tree of a search.
    """
    single: dict[str, PercentByMeasure] = {}
    grown: dict[str, PercentByMeasure] = {}
    for model, title in {OURS: "LdSM", OTHER: "FastXML"}.items():
        scores = _scores_by_trees([record for record in forests if record.model == model])
        best = _mean_scores((1, record.metrics) for record in rankings if record.model == f"{model}-single")
        single |= {f"{title}-1": scores[n] for n in [*scores][:1]} | {f"{title}-1*": best[n] for n in best}
        grown |= {f"{title}-{n:g}": scores[n] for n in [*scores][-1:]}
    groups = single | grown
    for axes, metric in zip(grid, LINES):
        for place, of_group in enumerate(groups.values()):
            for shift, k in enumerate(COLOURS):
                axes.barh(place + 0.27 * (shift - 1), of_group[f"{metric}@{k}"], 0.25, color=COLOURS[k])
        axes.set_yticks(range(len(groups)), list(groups))
        axes.tick_params(labelleft=axes is grid[0])
        axes.set(xlim=(0, None), ylim=(len(groups) - 0.5, -0.5), xlabel=f"{TITLES[metric]}@k (%)")
        axes.grid(visible=False, axis="y")
        axes.axison = bool(groups)


def _add_legend_of_bars(sheet: Figure) -> None:
    from matplotlib.patches import Patch

    plotting.add_legend(sheet, [Patch(color=colour, label=f"k = {k}") for k, colour in COLOURS.items()])


def _draw_objectives(axes: Axes, record: ForestRecord, tree: int) -> None:
    import matplotlib as mpl
    from matplotlib.ticker import MaxNLocator

    rows = [row for row in record.objectives if row.tree == tree]
    shades = mpl.colormaps["viridis"](np.linspace(0, 0.9, max(len(rows), 1)))
    for place in sorted({round(place) for place in np.linspace(0, len(rows) - 1, FEW_LEVELS)} if rows else ()):
        row, shade = rows[place], shades[place]
        epochs = np.arange(1, len(row.mean) + 1)
        axes.plot(epochs, row.mean, color=shade, label=f"{row.level} ({row.nodes})")
        axes.fill_between(epochs, row.minimum, row.maximum, color=shade, alpha=0.12, linewidth=0)
    for bound in (-record.setting("lambda_1"), record.setting("lambda_2")):
        height = bound * (record.setting("arity") - 1)
        axes.axhline(height, color="0.5", linewidth=0.8, linestyle="dotted", label="_bound")
    axes.text(1.05, 1.05, "level (nodes)", transform=axes.transAxes)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set(xlabel="epoch", ylabel="J")


def _panels(records: Sequence[R], draw: Callable[[Axes, Sequence[R]], None]) -> Figure:
    names = _datasets(records)
    sheet, grid = plotting.panels(len(names), WITH_NAMES)
    for axes, name in zip(grid, names, strict=True):
        draw(axes, _of_dataset(records, name))
        axes.set_title(name)
    plotting.label_lines(grid)
    return sheet


def _scores_by_trees(records: Sequence[ForestRecord]) -> dict[float, PercentByMeasure]:
    return _mean_scores([(row.n_trees, row.metrics) for record in records for row in record.rows])


def _number(value: object) -> float:
    if isinstance(value, int | float):
        return value
    raise XmlcError(f"figure: found {value!r} as a swept hyperparameter, expected a number")


def _mean_scores(rows_of: Iterable[tuple[float, Mapping[str, float]]]) -> dict[float, PercentByMeasure]:
    """Return the mean scores over seeds, in percent, for each value on the horizontal axis."""
    found: dict[float, list[Mapping[str, float]]] = {}
    for value, metrics in rows_of:
        found.setdefault(value, []).append(metrics)
    return {
        value: {name: 100 * fmean(metrics[name] for metrics in rows) for name in STYLES}
        for value, rows in sorted(found.items())
    }


def _of_dataset(records: Sequence[R], name: str) -> list[R]:
    return [record for record in records if record.dataset.name == name]


def _datasets(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(record.dataset.name for record in records))
