"""Embed figures in the page as SVG, so that the page loads no other files."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import NamedTuple

from markupsafe import Markup

from xmlc.suite.papers.common.figures import pareto_front
from xmlc.suite.papers.plotting import BLUE, SETTINGS, panels, save

# The first pattern matches parts of an SVG that draw nothing. The second pattern matches attributes, and the third
# matches long numbers in attributes. One decimal of such a number suffices on any screen.
NO_SHAPE = re.compile(r'<\?.*?\?>|<!.*?>|<metadata>.*?</metadata>|(?<=<g) id="[^"]*"', re.DOTALL)
QUOTED, LONG_NUMBER = re.compile(r'"[^"]*"'), re.compile(r"(?<![\d.])([1-9]\d+\.\d)\d+")
WIDTH = 3.3  # The width of the panel in inches.
APART = 0.06  # The minimum vertical distance between two names, as a fraction of the range of P@1.


@dataclass(frozen=True)
class Drawing:
    """Hold a figure of the page: title, caption, and the image as an address from `data_address`."""

    identifier: str
    title: str
    caption: str
    address: Markup


def data_address(svg: str) -> Markup:
    """Return an address that contains an SVG, for an attribute in single quotes.

    In attributes of the SVG, long numbers are cut to one decimal.
    """
    text = QUOTED.sub(lambda found: LONG_NUMBER.sub(r"\1", found[0]), " ".join(NO_SHAPE.sub("", svg).split()))
    return Markup("data:image/svg+xml," + "".join(f"%{ord(c):02X}" if c in "%#&'" else c for c in text))


class Point(NamedTuple):
    """Hold the position of a model in a drawing (seconds of training and P@1), and the name of the model."""

    seconds: float
    precision: float
    title: str


def quality_against_time(points: Sequence[Point]) -> Markup:
    """Draw P@1 against the seconds of training. A model on the Pareto front is named if there is space for the name."""
    import matplotlib as mpl

    seconds, precisions = [one.seconds for one in points], [one.precision for one in points]
    with mpl.rc_context(SETTINGS):
        sheet, (axes,) = panels(1, WIDTH)
        axes.set(xscale="log", xlabel="training (s), upper left is best", ylabel="P@1 (%)")
        axes.margins(y=0.08)
        axes.plot(seconds, precisions, "o", color="0.7")
        middle, free = math.sqrt(min(seconds) * max(seconds)), math.inf
        for place in reversed(pareto_front(seconds, precisions)):
            x, y, title = points[place]
            axes.plot([x], [y], "o", color=BLUE)
            if free - y > APART * (max(precisions) - min(precisions)):
                side = "right" if x > middle else "left"
                axes.annotate(title, (x, y), xytext=(0, 4), textcoords="offset points", ha=side)
                free = y
        file = StringIO()
        save(sheet, file, "svg")
    return data_address(file.getvalue())
