"""Specify figures, and draw and write them in a common style.

Matplotlib is imported only to draw, because the workflow reads the specifications at each start.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_file
from xmlc.suite.config.planned import Declared
from xmlc.suite.papers.notes import threads_of
from xmlc.suite.results.columns import check_quantities
from xmlc.suite.results.numbers import ABOUT
from xmlc.suite.results.titles import model_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches: one column (241 pt) and both columns (487 pt) of a two-column LaTeX article.
COLUMN = 241 / 72.27
BOTH = 487 / 72.27

SHEET = Path(__file__).with_name("figures.mplstyle")
METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
# Inches: a line of the legend, and the labels of an axis.
LEGEND = 0.15
LABELS = 0.3
TITLE_WIDTH = 16  # Characters
# Optional columns of points: keyword arguments of matplotlib for a line
STYLE = ["color", "linestyle", "marker", "markerfacecolor", "drawstyle"]

# Okabe and Ito's colours, which people with any kind of colour vision can distinguish
BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILION = "#D55E00"
GREY = "#737373"


@dataclass(frozen=True, kw_only=True)
class Plot:
    """The specification of a panel.

    The function ``points`` turns the panel's numbers, with ``options`` as keywords, into points for
    `draw_lines`, and ``log`` names the logarithmic axes, such as "x". The ``title`` follows the
    dataset's name, with facts in braces replaced by their values.
    """

    points: Any
    x: str
    y: str = ""
    log: str = ""
    title: str = ""
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FigureSpec(Declared):
    """The specification of a figure.

    The first entry of ``needs`` decides the panels, and each combination of values of the columns
    ``by`` has its own ``plots``. Two such columns make a table of datasets and models with common
    axes. If a dataset ``only`` has numbers, the figure shows it alone, and otherwise the first.

    Panels are at least ``narrowest`` wide and ``height`` high, in inches. They share a legend,
    unless ``legend`` is the title of one next to each.
    """

    caption: str
    plots: tuple[Plot, ...]
    by: tuple[str, ...] = ("dataset",)
    only: str = ""
    narrowest: float = 2.0
    height: float = 1.9
    legend: str = ""

    def draw(self, numbers: pd.DataFrame) -> Figure:
        """Draw the figure from the numbers of its records, of which there must be some. Seeds of a
        line need the same places.
        """
        import matplotlib as mpl

        first = numbers[numbers["need"] == 0]
        groups = [[*first[key].unique()] for key in self.by]
        if self.only:
            groups = [sorted(groups[0], key=lambda name: name != self.only)[:1]]
        places = list(product(*groups, self.plots))
        columns = 0
        if len(groups) > 1:
            columns = len(groups[1])
        with mpl.rc_context(fname=SHEET):
            sheet, grid = panels(len(places), self.narrowest, self.height, columns)
            drawn: dict[Axes, pd.DataFrame] = {}
            for axes, (*names, plot) in zip(grid, places, strict=True):
                own = numbers
                for key, name in zip(self.by, names, strict=True):
                    own = own[own[key] == name]
                points = own
                if not own.empty:
                    points = plot.points(own, **plot.options)
                if points.empty:
                    axes.text(0.5, 0.5, "no record", transform=axes.transAxes, ha="center")
                else:
                    draw_lines(axes, points)
                    drawn[axes] = points
                axes.set(xlabel=plot.x, ylabel=plot.y)
                for axis in plot.log:
                    axes.set(**{f"{axis}scale": "log"})
                    log_ticks(getattr(axes, f"{axis}axis"))
                title = ", ".join(filter(None, [*names, plot.title.format_map(facts(own))]))
                if columns:
                    dataset, model = names
                    axes.set_ylabel(f"{dataset}\n{plot.y}")
                    axes.label_outer()
                    title = ""
                    if dataset == groups[0][0]:
                        title = textwrap.fill(model_title(model), TITLE_WIDTH)
                axes.set_title(title)
            if not drawn:
                raise XmlcError(f"{self.name}: found no numbers to draw, expected at least one")
            if not self.legend:
                add_legend(sheet, grid)
            for axes, points in drawn.items():
                if self.legend:
                    axes.legend(title=self.legend, loc="center left", bbox_to_anchor=(1, 0.5))
                if "name" in points:
                    axes.margins(x=0.12)
                    name_points(axes, points)
        return sheet


def means(
    numbers: pd.DataFrame, variants: str, by: Sequence[str], *quantities: str
) -> pd.DataFrame:
    """Return means of quantities over seeds, with a row for each combination of ``by``.

    ``variants`` is a regular expression, such as "" for the results themselves, and ``by`` are
    columns and quantities, such as the number of trees, which seeds must share. Each must be a
    column of tables or in the records.
    """
    rows = numbers[numbers["variant"].str.fullmatch(variants)]
    names = [*by, *quantities]
    if len(rows):
        check_quantities(str(rows["record"].iloc[0]), names, [*rows["quantity"].unique()])
    rows = rows[rows["quantity"].isin(names)]
    index = ["dataset", "model", "method", "record", "variant"]
    rows = rows.pivot(index=index, columns="quantity", values="value").astype(float).reset_index()
    rows = rows.reindex(columns=[*dict.fromkeys([*index, *by, *quantities])])
    groups = rows.groupby(list(by))
    if len(by) > 1:
        seeds = groups["record"].transform("size")
        most = seeds.groupby([rows[name] for name in by[:-1]]).transform("max")
        odd = rows[seeds < most]
        if len(odd):
            record, dataset, model, method = odd.iloc[0][["record", "dataset", "model", "method"]]
            raise XmlcError(
                f"{record}: found a {by[-1]} of {model} {method} on {dataset} that other seeds "
                "lack. Recompute the older records"
            )
    return groups[list(quantities)].agg(fmean).reset_index()


def facts(numbers: pd.DataFrame) -> dict[str, Any]:
    """Return hyperparameters (of the last record) and the threads of times, by name."""
    about = numbers[numbers["variant"] == ABOUT]
    threads = threads_of(numbers, ("train_threads", "predict_threads"))
    return {"threads": threads} | dict(zip(about["quantity"], about["value"], strict=True))


def panels(
    number: int, narrowest: float, height: float, columns: int = 0
) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, row by row, as wide as one column of a paper or as both.

    Panels form a table of ``columns`` with common axes, or fill rows of equal lengths if it is 0.
    """
    from matplotlib.figure import Figure

    sharing: dict[str, Any] = {"sharex": True, "sharey": "row"}
    if not columns:
        sharing = {}
        columns = math.ceil(number / math.ceil(number / int(BOTH / narrowest)))
    rows = math.ceil(number / columns)
    width = BOTH
    if columns * narrowest <= COLUMN:
        width = COLUMN
    sheet = Figure(figsize=(width, rows * height + LABELS), layout="constrained")
    grid = list(sheet.subplots(rows, columns, squeeze=False, **sharing).flat)
    for spare in grid[number:]:
        spare.remove()
    return sheet, grid[:number]


def draw_lines(axes: Axes, points: pd.DataFrame) -> None:
    """Draw lines in a panel.

    ``points`` has the coordinates ``x`` and ``y``, and each line's ``label``, which the legend
    leaves out if it begins with "_". Optional columns are the line's style (`STYLE`), the ends
    ``low`` and ``high`` of a band, and the ``name`` of a point.
    """
    for label, line in points.groupby("label", sort=False):
        style = line.filter(STYLE).iloc[0].dropna().to_dict()
        axes.plot(line["x"], line["y"], label=label, **style)
        if "low" in line:
            axes.fill_between(
                line["x"], line["low"], line["high"], color=style["color"], alpha=0.12, linewidth=0
            )


def add_legend(sheet: Figure, grid: Iterable[Axes]) -> None:
    """Add a legend below all panels, which makes the figure higher."""
    entries: dict[str, Any] = {}
    for axes in grid:
        artists, labels = axes.get_legend_handles_labels()
        for artist, label in zip(artists, labels, strict=True):
            entries.setdefault(label, artist)  # The last panel may have markers without lines
    if entries:
        columns = round(sheet.get_figwidth() / 2)
        rows = math.ceil(len(entries) / columns)
        sheet.set_figheight(sheet.get_figheight() + LEGEND * (rows + 1))
        sheet.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=columns)


def name_points(axes: Axes, points: pd.DataFrame) -> None:
    """Write the names of points, which touch neither each other nor points or lines, after axes,
    scales and legend are set.
    """
    from matplotlib.cbook import STEP_LOOKUP_MAP
    from textalloc import allocate

    named = points.dropna(subset="name")
    style: dict[str, Any] = {
        "linewidth": 0.5,
        "linecolor": "0.6",
        "textsize": 7,
        "textcolor": [*named["color"]],
    }
    style |= {"max_distance": 0.5, "nbr_candidates": 1000, "avoid_label_lines_overlap": True}
    style |= {"margin": 0.015}
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
    style |= {"x_scatter": [*points["x"]], "y_scatter": [*points["y"]]}
    joined = [line for line in axes.get_lines() if line.get_linestyle() != "None"]
    paths = [STEP_LOOKUP_MAP[line.get_drawstyle()](*line.get_data()) for line in joined]
    style |= {"x_lines": [x for x, _ in paths], "y_lines": [y for _, y in paths]}
    _, _, texts, lines = allocate(axes, [*named["x"]], [*named["y"]], [*named["name"]], **style)
    artists: list[Any] = [*texts, *lines]
    for artist in filter(None, artists):
        artist.set_in_layout(False)  # Names must not change the size of a panel


def log_ticks(axis: Any) -> None:
    """Set ticks of a logarithmic axis at round numbers, more if there are few decades."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = axis.get_view_interval()
    steps: tuple[int, ...] = (1,)
    if high < 10 * low:
        steps = (1, 2, 5)
    elif high < 1000 * low:
        steps = (1, 3)
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter("{x:,.10g}")
    axis.set_minor_locator(NullLocator())


def write_figure(figure: Figure, prefix: Path) -> list[Path]:
    """Write PREFIX.svg and .pdf atomically."""
    files = []
    for ending in METADATA:
        files.append(prefix.with_name(f"{prefix.name}.{ending}"))
        with atomic_file(files[-1]) as temporary:
            temporary.write_bytes(content_of(figure, ending))
    return files


def content_of(figure: Figure, ending: str) -> bytes:
    """Return a file, bit-identical for equal figures."""
    import matplotlib as mpl

    file = BytesIO()
    with mpl.rc_context(fname=SHEET):
        figure.savefig(file, format=ending, metadata=METADATA[ending])
    return file.getvalue()
