"""Declare, draw and write figures in a common style.

Matplotlib is imported only in functions that draw, because the workflow reads the declarations at each start.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xmlc.core.files import atomic_file
from xmlc.suite.config.planned import Declared, Where

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Widths in inches of one column (241 pt) and of both columns (487 pt) of a two-column LaTeX article.
COLUMN, BOTH = 241 / 72.27, 487 / 72.27

SETTINGS: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 7,
    "text.parse_math": False,  # The title of a model may contain "$".
    "axes.titlesize": 8,
    "figure.labelsize": 7,
    "figure.titlesize": 8,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.0,
    "lines.markeredgewidth": 0.7,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    # Panels have a left axis and a lower axis, but no right and no upper axis. The grid has thin lines behind the
    # drawing.
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.size": 2.0,
    "ytick.major.size": 2.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.4,
    "grid.color": "0.88",
    # SVG files contain text instead of outlines, PDF files embed fonts, and files are bit-identical in each run.
    "svg.fonttype": "none",
    "svg.hashsalt": "xmlc",
    "pdf.fonttype": 42,
}
METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
# `NO_SHAPE` matches parts of an SVG that draw nothing. `NOT_SEEN` matches digits of numbers that no screen shows.
NO_SHAPE = re.compile(r'(?s)<[?!].*?>|<metadata>.*?</metadata>|(?<=<g) id=".*?"| transform="rotate\(-?0 .*?"|(?m:^ +)')
NOT_SEEN = re.compile(r"((?<![\d.])\d\d+\.\d|\.\d\d)\d+(?=[^<>]*>)")
LEGEND_LINE, LABELS = 0.17, 0.3  # Heights in inches of a line of the legend, and of the figure's labels.
NAME_LINE, LETTER = 0.11, 4.6  # Height of a name in inches, and width of a digit in points.
# Choices of ticks, from dense to sparse: the steps within a decade, and the largest number of decades.
STEPS = (((1, 2, 5), 12), ((1, 3), 12), ((1,), 9), ((1,), 5), ((1,), 4), ((1,), 3))

# The colours of Okabe and Ito, which people with any kind of colour vision can distinguish.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

Style = dict[str, Any]  # Keyword arguments of matplotlib for a line.
# The first argument of a drawing function is the paper. Each of the next arguments contains the records for one entry
# of ``needs``.
Draw = Callable[..., "Figure"]


@dataclass(frozen=True)
class FigureDefinition(Declared):
    """Declare a figure with its caption and the function that draws the figure.

    Calling the definition draws the figure.
    """

    caption: str
    draw: Draw

    def __call__(self, *given: Any) -> Figure:
        """Draw the figure in the common style."""
        import matplotlib as mpl

        with mpl.rc_context(SETTINGS):
            return self.draw(*given)


def figure(name: str, *needs: Where, caption: str) -> Callable[[Draw], FigureDefinition]:
    """Return a decorator for a function that draws a figure.

    The figure belongs to the papers whose module ``figures.py`` declares or imports the figure.
    """
    return lambda draw: FigureDefinition(name, needs, caption, draw)


def panels(number: int, narrowest: float = 1.6, together: int = 1, shape: float = 0.85) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, row by row.

    The figure is as wide as one column of a paper, or as both columns if necessary.

    Parameters
    ----------
    number : int
        Number of panels.
    narrowest : float
        The smallest width of a panel in inches. Panels that do not fit in a row continue in the next row.
    together : int
        Number of consecutive panels that always stay in one row.
    shape : float
        Height of a panel as a multiple of its width. The height of a panel has an upper limit. The figure is higher
        than its panels, to have space for labels.
    """
    from matplotlib.figure import Figure

    groups = -(-number // together)
    rows = -(-groups // max(1, int(BOTH / narrowest) // together))
    columns = -(-groups // rows) * together
    width = COLUMN if columns * narrowest <= COLUMN else BOTH
    height = min(shape * width / columns, 0.65 * COLUMN)
    sheet = Figure(figsize=(width, rows * height + LABELS), layout="constrained")
    grid = list(sheet.subplots(rows, columns, squeeze=False).flat)
    for spare in grid[number:]:
        spare.remove()
    return sheet, grid[:number]


def add_legend(sheet: Figure, entries: Iterable[Style | Artist]) -> None:
    """Add a legend below all panels, in as many columns as fit.

    An entry of the legend is an artist of matplotlib, or the style of a line with the line's label. The figure becomes
    higher by the height of the legend.
    """
    from matplotlib.lines import Line2D

    artists = [Line2D([], [], **entry) if isinstance(entry, dict) else entry for entry in entries]
    # Width of the widest entry of the legend, in points.
    widest = 36 + 4.1 * max(len(str(artist.get_label())) for artist in artists)
    lines = -(-len(artists) // max(1, int(72 * sheet.get_figwidth() / widest)))
    sheet.set_figheight(sheet.get_figheight() + LEGEND_LINE * (lines + 0.5))
    sheet.legend(handles=artists, loc="outside lower center", ncols=-(-len(artists) // lines))


def label_points(grid: Iterable[Axes], sides: Sequence[str] | None = None) -> None:
    """Write the label of each line that is a single point next to the point, without overlaps.

    Call this function after the limits of the axes, the scales and the legend are set.

    Parameters
    ----------
    grid : iterable of Axes
    sides : sequence of str or None
        Directions from a point to its label, the best first. By default, a label may be on any side of its point.
    """
    from textalloc import allocate

    for axes in grid:
        axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
        labels, colours, ends = zip(*_ends(axes, single=True))
        x, y = map(list, zip(*ends))
        style: Style = {"linewidth": 0.5, "linecolor": "0.6", "textsize": 7, "textcolor": [*map(dark, colours)]}
        style |= {"margin": 0.007, "min_distance": 0.015, "max_distance": 0.5, "direction": sides}
        # If ``sides`` are given, only candidates on these sides remain, so that more candidates are needed.
        style |= {"nbr_candidates": 3000 if sides else 1000, "avoid_label_lines_overlap": True}
        _, _, texts, lines = allocate(axes, x, y, [*labels], x_scatter=x, y_scatter=y, **style)
        artists: list[Any] = [*texts, *lines]
        for artist in filter(None, artists):
            artist.set_in_layout(False)  # Labels must not change the size of a panel.


def label_lines(grid: Iterable[Axes]) -> None:
    """Write the labels of lines to the right of their panels.

    Lines of a single point, and lines whose label begins with "_", are skipped.

    Call this function after the limits of the axes, the scales and the legend are set.
    """
    arrow = {"arrowstyle": "-", "linewidth": 0.5, "relpos": (0, 0.5), "shrinkA": 0}
    for axes in grid:
        sheet: Any = axes.figure
        sheet.draw_without_rendering()  # Compute the sizes of the panels.
        lines = sorted(_ends(axes, single=False), key=lambda line: line[2][1])
        # `up` moves labels up until they do not overlap, and `down` moves them down. The mean of both heights is close
        # to the end of the label's line.
        gaps = NAME_LINE * sheet.dpi * np.arange(len(lines))
        ends = axes.transData.transform([end for *_, end in lines] or np.empty((0, 2)))[:, 1] - gaps
        up, down = np.maximum.accumulate(ends), np.minimum.accumulate(ends[::-1])[::-1]
        style: Style = {"textcoords": axes.get_yaxis_transform(), "va": "center", "annotation_clip": False}
        for (label, colour, end), height in zip(lines, (up + down) / 2 + gaps):
            place = 1.05, axes.transData.inverted().transform((0, height))[1]
            axes.annotate(label, end, place, color=dark(colour), arrowprops=arrow | {"color": colour}, **style)


def _ends(axes: Axes, single: bool) -> list[tuple[str, Any, tuple[float, float]]]:
    """Return label, colour and last point of each line with a label. ``single`` selects lines of one point."""
    found = [(str(line.get_label()), line.get_color(), np.asarray(line.get_xydata())) for line in axes.get_lines()]
    return [(name, colour, tuple(xy[-1])) for name, colour, xy in found if name[0] != "_" and (len(xy) == 1) == single]


def dark(colour: Any) -> str:
    """Return a darker shade of a colour, in which text is readable on white."""
    from matplotlib.colors import to_hex, to_rgb

    red, green, blue = to_rgb(colour)
    return to_hex((0.7 * red, 0.7 * green, 0.7 * blue))


def log_ticks(axis: Any, values: Sequence[float] = (), text: Callable[[float], str] = "{:,.10g}".format) -> None:
    """Set ticks of a logarithmic axis, as many as fit without a collision of their labels.

    Parameters
    ----------
    axis : matplotlib Axis
        The axis of a panel, with limits that are already set.
    values : sequence of float
        The values that may have a tick, in ascending order. By default, round numbers have ticks.
    text : callable
        Returns the label of a value.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    low, high = axis.get_view_interval()
    panel, is_x = axis.axes.get_window_extent(), axis.axis_name == "x"
    length = 72 / axis.axes.figure.dpi * (panel.width if is_x else panel.height)
    # An axis of less than half a decade may contain a single round number, so it can have ticks at equal distances.
    locators = [LogLocator(subs=steps, numticks=most) for steps, most in STEPS] + [MaxNLocator(4)]
    offered = [values] if len(values) else [locator.tick_values(low, high) for locator in locators]
    offered += [offered[0][::-1][::step][::-1] for step in range(2, len(offered[0]))]
    for found in offered:
        ticks = [tick for tick in found if low <= tick <= high]
        places = [length * math.log(tick / low) / math.log(high / low) for tick in ticks]
        halves = [LETTER / 2 * max(map(len, text(tick).split("\n"))) + 3 if is_x else 6 for tick in ticks]
        if len(ticks) > 1 and all(map(lambda a, b, x, y: b - a >= x + y, places, places[1:], halves, halves[1:])):
            break
    axis.set_ticks(ticks, [text(tick) for tick in ticks])
    axis.set_minor_locator(NullLocator())


def write_figure(figure: Figure, prefix: Path) -> list[Path]:
    """Write PREFIX.svg and .pdf atomically, and return their paths."""
    files = {ending: prefix.with_name(f"{prefix.name}.{ending}") for ending in METADATA}
    for ending, file in files.items():
        with atomic_file(file) as temporary:
            temporary.write_bytes(content_of(figure, ending))
    return [*files.values()]


def content_of(figure: Figure, ending: str) -> bytes:
    """Return the content of a figure's file. Equal figures give bit-identical files."""
    import matplotlib as mpl

    file = BytesIO()
    with mpl.rc_context(SETTINGS):
        figure.savefig(file, format=ending, metadata=METADATA[ending])
    content = file.getvalue()
    return NOT_SEEN.sub(r"\1", NO_SHAPE.sub("", content.decode())).encode() if ending == "svg" else content
