"""One style for all figures, how a figure is declared, and how it is written.

Matplotlib is imported where something is drawn: at each start the workflow reads only which records figures need.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
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

# Widths in inches: one column of a LaTeX article of two, 241 pt, and both, 487 pt.
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
    # Thin lines behind the drawing.
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.linewidth": 0.4,
    "grid.color": "0.88",
    # Text stays text, its font goes with it into a PDF, and two runs give the same bytes.
    "svg.fonttype": "none",
    "svg.hashsalt": "xmlc",
    "pdf.fonttype": 42,
}
METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
DPI = 300  # of pixels
LEGEND_LINE, LABELS = 0.17, 0.3  # heights in inches

# Colours of Okabe and Ito, told apart by every kind of colour vision.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

# Of (paper, records), then the records of further needs.
Draw = Callable[..., "Figure"]


@dataclass(frozen=True)
class FigureDefinition(Declared):
    """A declared figure, its caption, and the function that draws it, which a call runs."""

    caption: str
    draw: Draw

    def __call__(self, *given: Any) -> Figure:
        """Draw the figure, in the style of all."""
        import matplotlib as mpl

        with mpl.rc_context(SETTINGS):
            return self.draw(*given)


def figure(name: str, *needs: Where, caption: str) -> Callable[[Draw], FigureDefinition]:
    """Declare the figure that the function below draws; its module belongs to the paper that has it."""
    return lambda draw: FigureDefinition(name, needs, caption, draw)


def panels(number: int, narrowest: float, together: int = 1, shape: float = 0.85) -> tuple[Figure, list[Axes]]:
    """Return a sheet and its panels, row by row: as wide as one column of a paper or, where they need it, as both.

    Parameters
    ----------
    number : int
    narrowest : float
        Width of a panel, in inches, below which they go on in a further row.
    together : int
        So many panels in succession stand side by side in any case.
    shape : float
        Height of a panel for its width; wide ones are lower, and a sheet has some more for its labels.
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


def add_legend(sheet: Figure, entries: Sequence[Artist], loc: Outside = "outside lower center") -> None:
    """Put a legend below or above all panels, in as many columns as there is room for; the sheet becomes higher."""
    widest = 36 + 4.1 * max(len(str(entry.get_label())) for entry in entries)  # points
    lines = -(-len(entries) // max(1, int(72 * sheet.get_figwidth() / widest)))
    sheet.set_figheight(sheet.get_figheight() + LEGEND_LINE * (lines + 0.5))
    sheet.legend(handles=entries, loc=loc, ncols=-(-len(entries) // lines))


def write_figure(figure: Figure, prefix: Path) -> list[Path]:
    """Write PREFIX.svg, .png and .pdf, each whole or not at all."""
    files = [prefix.with_name(f"{prefix.name}.{ending}") for ending in METADATA]
    for file in files:
        with atomic_file(file) as temporary:
            save(figure, temporary, file.suffix[1:])
    return files


def save(figure: Figure, file: Path | StringIO, ending: str) -> None:
    """Write a figure in one format; the same figure gives the same bytes."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        figure.savefig(file, format=ending, metadata=METADATA[ending], dpi=DPI)


def apart(values: Collection[float]) -> set[float]:
    """Choose values whose labels do not cover each other on a logarithmic axis: five at most, from the largest on."""
    chosen: list[float] = []
    for value in sorted(values, reverse=True):
        if not chosen or chosen[-1] >= value * math.sqrt(math.sqrt(max(values) / min(values))):
            chosen.append(value)
    return set(chosen)
