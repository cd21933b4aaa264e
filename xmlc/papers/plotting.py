"""One style for all figures, how a figure is declared, and how it is written.

Matplotlib is imported where something is drawn: at each start the workflow reads only which records figures need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmlc.core.files import atomic_file
from xmlc.suites.needs import Declared, Need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

# Colours of Okabe and Ito, told apart by every kind of colour vision.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

# Of (paper, records), then the records of further needs.
Draw = Callable[..., "Figure"]


@dataclass(frozen=True)
class FigureDefinition(Declared):
    """A declared figure and the function that draws it, which a call runs."""

    draw: Draw

    def __call__(self, *given: Any) -> Figure:
        """Draw the figure, in the style of all."""
        import matplotlib as mpl

        with mpl.rc_context(SETTINGS):
            return self.draw(*given)


def figure(name: str, *needs: Need) -> Callable[[Draw], FigureDefinition]:
    """Declare the figure that the function below draws; its module belongs to the paper that has it."""
    return lambda draw: FigureDefinition(name, needs, draw)


def add_grid(axes: Axes) -> None:
    """Put thin lines at major ticks behind the drawing."""
    axes.grid(visible=True, which="major", linewidth=0.4, color="0.88")
    axes.set_axisbelow(True)


def write_figure(figure: Figure, prefix: Path) -> list[Path]:
    """Write PREFIX.svg and PREFIX.png, each whole or not at all; the same figure gives the same bytes."""
    import matplotlib as mpl

    metadata = {".svg": {"Date": None, "Creator": None}, ".png": {"Software": None}}
    files = []
    for suffix, entries in metadata.items():
        path = prefix.with_name(prefix.name + suffix)
        with mpl.rc_context(SETTINGS), atomic_file(path) as temporary:
            figure.savefig(temporary, format=suffix[1:], metadata=entries, dpi=160)
        files.append(path)
    return files


def apart(values: Iterable[float]) -> set[float]:
    """Choose values whose labels do not cover each other on a logarithmic axis: the largest, and so on by thirds."""
    chosen: list[float] = []
    for value in sorted(values, reverse=True):
        if not chosen or chosen[-1] >= 3 * value:
            chosen.append(value)
    return set(chosen)
