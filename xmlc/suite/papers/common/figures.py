"""Specify the figures that every suite has. A paper's figure of the same name takes precedence."""

from __future__ import annotations

import math
from functools import partial

import pandas as pd

from xmlc.suite.config.planned import Where
from xmlc.suite.papers.common.curves import figure1 as figure1
from xmlc.suite.papers.plotting import BLUE, GREEN, GREY, VERMILION, FigureSpec, Plot, means
from xmlc.suite.results.titles import family, model_title

# Models of one program share a colour and a marker.
COLOURS = {"xmlc": BLUE, "napkinXC": VERMILION, "omikuji": GREEN}
CONTROL = r"[\x00-\x1f\x7f-\x9f]"  # Characters that SVG files must not contain.
MARKERS = {"xmlc": "o", "napkinXC": "s", "omikuji": "^"}


def quality(numbers: pd.DataFrame, cost: str) -> pd.DataFrame:
    """Return P@1 of each model against a cost, and the Pareto front. Models without the cost are left out."""
    rows = means(numbers, "", ["model"], cost, "p@1").dropna()
    return with_front(rows.rename(columns={cost: "x", "p@1": "y"}))


def with_front(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points ``x`` and ``y`` of each ``model`` with names and styles, and their Pareto front."""
    front = pareto_front(points)
    front = pd.concat([front, front.tail(1).assign(x=points["x"].max())])
    front = front.assign(label="Pareto front", color=GREY, linestyle="dashed", drawstyle="steps-post")
    programs = points["model"].map(family)
    names = points["model"].map(model_title).str.replace(CONTROL, "", regex=True)
    style = {"color": programs.map(COLOURS), "marker": programs.map(MARKERS), "linestyle": "none"}
    return pd.concat([points.assign(label=programs, name=names, **style), front])


def pareto_front(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points on the Pareto front by their cost ``x`` and quality ``y``, with the cheapest first.

    A point is on the front if no other point is better at the same or a lower cost, or cheaper at the same quality.
    Only the first of several equal points is returned.
    """
    points = points.sort_values(["x", "y"], ascending=[True, False], kind="stable")
    best_of_cheaper = points["y"].astype(float).cummax().shift(fill_value=-math.inf)
    return points[points["y"] > best_of_cheaper]


pareto = FigureSpec(
    name="pareto",
    needs=(Where("ranking", "full", baselines=True),),
    caption="P@1 against training time and prediction time per instance. The dashed line is the Pareto front.",
    narrowest=2.4,
    height=2.3,
    plots=tuple(
        Plot(
            points=partial(quality, cost=cost),
            title="{threads}",
            axes={
                "xscale": "log",
                "xlabel": title,
                "ylabel": "P@1 (%)",
                "xmargin": 0.12,
                "ymargin": 0.12,
            },
        )
        for cost, title in {
            "train_seconds": "training (s)",
            "predict_ms": "prediction (ms per instance)",
        }.items()
    ),
)
