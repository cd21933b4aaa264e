"""Figures from records, drawn without any global state of the plotting library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from xmlc.errors import XmlcError
from xmlc.files import atomic_file
from xmlc.papers.common.pareto import pareto_figure
from xmlc.papers.gfm2011.figures import KIND as SIMULATION
from xmlc.papers.gfm2011.figures import read_simulations, simulation_figure
from xmlc.papers.ldsm2020.figures import (
    depth_figure,
    growth_figure,
    objectives_figure,
    overview_figure,
    singles_figure,
    sweep_figure,
)
from xmlc.papers.oplt2021.figures import entropy_figure, macro_f_figure
from xmlc.records.reading import read_records
from xmlc.tables.registry import Registry
from xmlc.tables.titles import method_title, model_title

Records = list[dict[str, Any]]
Style = dict[str, Any]  # arguments of matplotlib

# Colours of Okabe and Ito, told apart by every kind of colour vision; markers tell them apart in print.
STYLES: dict[str, Style] = {
    "sto": {"color": "#D55E00", "marker": "s"},
    "fta": {"color": "#0072B2", "marker": "o"},
    "ofo": {"color": "#009E73", "marker": "^"},
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
SETTINGS: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 9,
    # Text stays text, and two runs give the same bytes.
    "svg.fonttype": "none",
    "svg.hashsalt": "xmlc",
}

Draw = Callable[[str, Records], Figure]


@dataclass(frozen=True)
class FigureDefinition:
    """What is known of a figure before there are records: which it takes, and who draws it.

    Of several kinds the records come one kind after the other; all but the first kind may be missing.
    """

    kind: str | tuple[str, ...]
    portion: str
    draw: Draw


FIGURES: Registry[FigureDefinition] = Registry("figure")


def register(
    name: str, kind: str | tuple[str, ...] = "thresholds", portion: str = "80", paper: str | None = None
) -> Callable[[Draw], Draw]:
    """Make a figure known by its name: to every suite, or as that of one ``paper``."""

    def add(draw: Draw) -> Draw:
        FIGURES.add(name, FigureDefinition(kind, portion, draw), paper)
        return draw

    return add


def draw_figure(name: str, paper: str, records: Sequence[Path]) -> Figure:
    """Draw one figure of a paper.

    Parameters
    ----------
    name : str
        A name of `FIGURES`, of the paper or of all suites; a bare number means ``figure<number>``.
    paper : str
    records : sequence of Path
        Those of other kinds than the figure's are left out.

    Raises
    ------
    XmlcError
        The figure is unknown, or the records do not fit.
    """
    definition = FIGURES.of(name, paper)
    with mpl.rc_context(SETTINGS):
        if definition.kind == SIMULATION:
            return definition.draw(paper, read_simulations(records))
        kinds = (definition.kind,) if isinstance(definition.kind, str) else definition.kind
        read = [read_records(records, kind, definition.portion, kind == kinds[0]) for kind in kinds]
        return definition.draw(paper, [record for part in read for record in part])


def write_figure(figure: Figure, prefix: Path) -> list[Path]:
    """Write PREFIX.svg and PREFIX.png, each whole or not at all; the same figure gives the same bytes."""
    metadata = {".svg": {"Date": None, "Creator": None}, ".png": {"Software": None}}
    files = []
    for suffix, entries in metadata.items():
        path = prefix.with_name(prefix.name + suffix)
        with mpl.rc_context(SETTINGS), atomic_file(path) as temporary:
            figure.savefig(temporary, format=suffix[1:], metadata=entries, dpi=160)
        files.append(path)
    return files


@register("figure1")
def figure1(paper: str, records: Records) -> Figure:
    """Draw Figure 1 of plt2016: macro-F of STO, FTA and OFO against 1/c, a panel for each model and dataset."""
    records = [record for record in records if record["method"] in STYLES]
    if not records:
        raise XmlcError(f"figure1: no record of the methods {', '.join(STYLES)} is given")
    for record in records:
        if any(point["c"] is None for point in [record["best"], *record["grid"]]):
            raise XmlcError(f"figure1: a record of {record['method']} has a grid point without c; 1/c is the abscissa")
    models = list(dict.fromkeys(record["model"] for record in records))
    datasets = list(dict.fromkeys(record["dataset"]["name"] for record in records))
    figure = _sheet(len(models), len(datasets))
    grid = figure.subplots(len(models), len(datasets), sharex=True, sharey="col", squeeze=False)
    for i, model in enumerate(models):
        for j, dataset in enumerate(datasets):
            panel = [r for r in records if (r["model"], r["dataset"]["name"]) == (model, dataset)]
            axes = grid[i, j]
            if panel:
                _draw_panel(axes, panel)
            else:
                axes.text(0.5, 0.5, "no record", ha="center", va="center", transform=axes.transAxes, color="0.5")
            axes.set_title(dataset if i == 0 else "")
            axes.set_xlabel("1/c" if i == len(models) - 1 else "")
            axes.set_ylabel(f"{model_title(model)}\nmacro-F (%)" if j == 0 else "")
    drawn = [method for method in STYLES if any(record["method"] == method for record in records)]
    _add_legend(figure, drawn)
    return figure


def _sheet(rows: int, columns: int) -> Figure:
    width = max(MARGIN_WIDTH + PANEL_WIDTH * columns, NARROWEST)
    height = MARGIN_HEIGHT + PANEL_HEIGHT * rows + (0 if width >= LEGEND_WIDTH else LEGEND_LINE)
    return Figure(figsize=(width, height), layout="constrained")


def _draw_panel(axes: Axes, records: Records) -> None:
    for method, style in STYLES.items():
        runs = [record for record in records if record["method"] == method]
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
        for record in sorted(runs, key=lambda run: run["seed"]):
            place = abscissae.index(1 / record["best"]["c"])
            axes.plot([abscissae[place]], [curves["test"][place]], **CHOSEN, label="_chosen")
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.grid(visible=True, which="major", linewidth=0.4, color="0.88")
    axes.set_axisbelow(True)


def _curves(runs: Records) -> tuple[list[float], dict[str, list[float]]]:
    """Return 1/c, ascending, and the macro-F of each part in percent, averaged over seeds."""
    grids = [sorted(run["grid"], key=lambda point: 1 / point["c"]) for run in runs]
    values = [[point["c"] for point in grid] for grid in grids]
    if any(value != values[0] for value in values):
        first = runs[0]
        raise XmlcError(
            f"figure1: the seeds of {first['model']}, {first['method']}, on {first['dataset']['name']} tried different "
            "values of c; expected one grid: make the older records again"
        )
    curves = {
        part: [100 * sum(point[part]["macro_f"] for point in same) / len(same) for same in zip(*grids, strict=True)]
        for part in PARTS
    }
    return [1 / c for c in values[0]], curves


def _add_legend(figure: Figure, methods: Sequence[str]) -> None:
    """Put one legend below all panels: colours and markers, lines, the chosen point."""
    entries = [Line2D([], [], **STYLES[m], linestyle="none", markersize=5, label=method_title(m)) for m in methods]
    for part, line in PARTS.items():
        face = "0.3" if part == "test" else "white"
        entries.append(
            Line2D([], [], color="0.3", marker="o", markersize=3.6, markerfacecolor=face, **line, label=part)
        )
    entries.append(Line2D([], [], **CHOSEN, label="chosen on validation"))
    columns = len(entries) if figure.get_figwidth() >= LEGEND_WIDTH else 3
    figure.legend(
        handles=entries,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        handlelength=2.6,
        handletextpad=0.5,
        columnspacing=1.4,
    )


register("pareto", "ranking", "full")(pareto_figure)
register("figure1", ("forest", "sweep", "ranking"), "full", paper="ldsm2020")(overview_figure)
register("figure2", "forest", "full", paper="ldsm2020")(depth_figure)
register("figure3", "forest", "full", paper="ldsm2020")(objectives_figure(trees=1))
register("figure4", "forest", "full", paper="ldsm2020")(growth_figure)
register("figure5", "sweep", "full", paper="ldsm2020")(sweep_figure)
register("figure6", ("forest", "ranking"), "full", paper="ldsm2020")(singles_figure)
register("figure7", "forest", "full", paper="ldsm2020")(objectives_figure(trees=2))
register("figure1", SIMULATION, paper="gfm2011")(simulation_figure)
register("figure2", "progressive", "full", paper="oplt2021")(entropy_figure)
register("macrof", "progressive", "full")(macro_f_figure)
