"""Embed figures in the page as SVG, so that the page loads no other files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from xmlc.suite.papers.common.figures import pareto_front
from xmlc.suite.papers.plotting import BLUE, COLUMN, SETTINGS, content_of, label_points, log_ticks, panels

OTHERS = "0.45"  # The grey of models that are not on the Pareto front.
SIDES = ("east", "northeast", "southeast", "west", "northwest", "southwest")  # Places of names, the best first.
NAME = 0.1  # Additional height in inches for each name.


@dataclass(frozen=True)
class Drawing:
    """Hold a figure of the page: title, caption, and the image as an address from `data_address`."""

    identifier: str
    title: str
    caption: str
    address: Markup


def data_address(svg: str) -> Markup:
    """Return an address that contains an SVG, for an attribute in single quotes."""
    text = " ".join(svg.split())
    return Markup("data:image/svg+xml," + "".join(f"%{ord(c):02X}" if c in "%#&'" else c for c in text))


class Point(NamedTuple):
    """Hold the position of a model in a drawing (seconds of training and P@1), and the name of the model."""

    seconds: float
    precision: float
    title: str


def quality_against_time(points: Sequence[Point]) -> Markup:
    """Draw P@1 against the seconds of training, with names next to points. Points on the Pareto front are filled."""
    import matplotlib as mpl

    front = {*pareto_front([one.seconds for one in points], [one.precision for one in points])}
    with mpl.rc_context(SETTINGS):
        sheet, (axes,) = panels(1, COLUMN)
        sheet.set_figheight(sheet.get_figheight() + NAME * len(points))
        axes.set(xscale="log", xlabel="training (s), filled: on the Pareto front", ylabel="P@1 (%)")
        axes.margins(x=0.3, y=0.1)
        # Fast models are many and close together. The names of slow models are placed first, and leave free space to
        # fast models.
        for place in sorted(range(len(points)), key=lambda place: -points[place].seconds):
            x, y, title = points[place]
            colour, face = (BLUE, BLUE) if place in front else (OTHERS, "white")
            # SVG files contain no control characters. Labels that begin with "_" are not drawn.
            label = "".join(filter(str.isprintable, f" {title}" if title.startswith("_") else title))
            axes.plot([x], [y], "o", color=colour, markerfacecolor=face, label=label)
        log_ticks(axes.xaxis)
        label_points([axes], SIDES)
        return data_address(content_of(sheet, "svg").decode())
