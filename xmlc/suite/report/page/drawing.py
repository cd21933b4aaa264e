"""Embed figures in the page as SVG, so that nothing is loaded from outside."""

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
APART = 0.06  # The minimum vertical distance between two names, as a share of the panel's height.


@dataclass(frozen=True)
class Drawing:
    """Hold a figure: title, caption, and the image as a `data_address`."""

    identifier: str
    title: str
    caption: str
    address: Markup


def data_address(svg: str) -> Markup:
    """Return an SVG as a data address, for an attribute in single quotes.

    Long numbers in the SVG are cut to one decimal.
    """
    text = QUOTED.sub(lambda found: LONG_NUMBER.sub(r"\1", found[0]), " ".join(NO_SHAPE.sub("", svg).split()))
    return Markup("data:image/svg+xml," + "".join(f"%{ord(c):02X}" if c in "%#&'" else c for c in text))


class Point(NamedTuple):
    """Hold the position of a model's point in a drawing, and the model's name."""

    seconds: float
    precision: float
    title: str


def quality_against_time(points: Sequence[Point]) -> Markup:
    """Draw P@1 against seconds of training. Names of models on the Pareto front are drawn if there is room."""
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
