"""Embed figures in the page as SVG, so that the page loads no other files."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from xmlc.suite.papers.common.figures import with_front
from xmlc.suite.papers.plotting import (
    COLUMN,
    NAME,
    SETTINGS,
    content_of,
    draw_lines,
    log_ticks,
    name_points,
    panels,
)


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


def quality_against_time(points: pd.DataFrame) -> Markup:
    """Draw P@1 (``y``) of each ``model`` against the seconds of training (``x``), with the Pareto front."""
    import matplotlib as mpl

    with mpl.rc_context(SETTINGS):
        sheet, (axes,) = panels(1, COLUMN, 2.2 + NAME * len(points))
        points = with_front(points)
        draw_lines(axes, points)
        axes.set(
            xscale="log",
            xlabel="training (s), dashed: Pareto front",
            ylabel="P@1 (%)",
            xmargin=0.3,
            ymargin=0.1,
        )
        log_ticks(axes.xaxis)
        name_points(axes, points)
        return data_address(content_of(sheet, "svg").decode())
