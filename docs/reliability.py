"""Draw the reliability diagram of the page "Choose label sets" from the data of its examples."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure

from xmlc.metrics import plot_reliability
from xmlc.suite.papers.plotting import (
    BLUE,
    BOTH,
    GREEN,
    SHEET,
    VERMILION,
    content_of,
    log_ticks,
)

HERE = Path(__file__).parent
PAGE = HERE / "label_sets.md"
FIGURE = HERE / "reliability.svg"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Names of the page's estimates, and titles
ESTIMATES = {"spe": "estimates of PLT", "calibrated": "the same, calibrated"}
LIMITS = (0.001, 1)
STYLE = {"axes.prop_cycle": cycler(color=[BLUE, VERMILION, GREEN])}


def figure() -> Figure:
    """Draw a diagram for the estimates as they are, and one for the calibrated estimates."""
    names: dict[str, Any] = {}
    with redirect_stdout(StringIO()):
        exec("\n".join(BLOCK.findall(PAGE.read_text(encoding="utf-8"))), names)
    with mpl.rc_context(STYLE, fname=SHEET):
        sheet = Figure(figsize=(BOTH, BOTH / 2), layout="constrained")
        panels = sheet.subplots(1, 2, sharex=True, sharey=True)
        for axes, (name, title) in zip(panels, ESTIMATES.items(), strict=True):
            plot_reliability(names["Y"], names["Y_new"], names[name], axes)
            axes.set(title=title, xlim=LIMITS, ylim=LIMITS)
            for axis in (axes.xaxis, axes.yaxis):
                log_ticks(axis)
    return sheet


if __name__ == "__main__":
    FIGURE.write_bytes(content_of(figure(), "svg"))
