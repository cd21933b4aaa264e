"""Declare, draw and write figures in a common style.

Matplotlib is imported only in functions that draw, because the workflow reads the declarations at each start.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

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
    "axes.titlesize": 8,
    "figure.labelsize": 7,
    "figure.titlesize": 8,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.0,
    "lines.markeredgewidth": 0.7,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    # The grid has thin lines behind the drawing.
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
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
DPI = 300  # Resolution of PNG files, in dots per inch.
LEGEND_LINE, LABELS = 0.17, 0.3  # Heights in inches of a line of the legend, and of the figure's labels.

# The colours of Okabe and Ito, which people with any kind of colour vision can distinguish.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

Style = dict[str, Any]  # Keyword arguments of matplotlib for a line.
# The first argument of a drawing function is the paper. Each further argument contains the records for one need.
Draw = Callable[..., "Figure"]


@dataclass(frozen=True)
class FigureDefinition(Declared):
    """Declare a figure with its caption and the function that draws the figure.

    A call of the definition draws the figure.
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
        Height of a panel as a multiple of its width. The height has an upper limit. The figure has extra height for
        labels.
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


Outside = Literal["outside lower center", "outside upper center"]


def add_legend(sheet: Figure, entries: Iterable[Style | Artist], loc: Outside = "outside lower center") -> None:
    """Add a legend below or above all panels, in as many columns as fit.

    An entry is an artist of matplotlib, or the style of a line, which includes the line's label. The figure becomes
    higher by the height of the legend.
    """
    from matplotlib.lines import Line2D

    artists = [Line2D([], [], **entry) if isinstance(entry, dict) else entry for entry in entries]
    # This is the width of the widest entry of the legend, in points.
    widest = 36 + 4.1 * max(len(str(artist.get_label())) for artist in artists)
    lines = -(-len(artists) // max(1, int(72 * sheet.get_figwidth() / widest)))
    sheet.set_figheight(sheet.get_figheight() + LEGEND_LINE * (lines + 0.5))
    sheet.legend(handles=artists, loc=loc, ncols=-(-len(artists) // lines))


def write_figure(figure: Figure, prefix: Path) -> list[Path]:
    """Write PREFIX.svg, .png and .pdf atomically, and return their paths."""
    files = {ending: prefix.with_name(f"{prefix.name}.{ending}") for ending in METADATA}
    for ending, file in files.items():
        with atomic_file(file) as temporary:
            save(figure, temporary, ending)
    return [*files.values()]


def save(figure: Figure, file: Path | StringIO, ending: str) -> None:
    """Write a figure in the format ``ending``. Equal figures give bit-identical files."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        figure.savefig(file, format=ending, metadata=METADATA[ending], dpi=DPI)


def apart(values: Collection[float]) -> set[float]:
    """Return at most five of ``values`` as ticks of a logarithmic axis. The tick labels then do not overlap.

    The largest value is always included.
    """
    chosen: list[float] = []
    for value in sorted(values, reverse=True):
        if not chosen or chosen[-1] >= value * math.sqrt(math.sqrt(max(values) / min(values))):
            chosen.append(value)
    return set(chosen)
