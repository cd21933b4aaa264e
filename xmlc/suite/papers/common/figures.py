"""The points of the figures of every suite (``figures.yaml``)."""

from __future__ import annotations

import math

import pandas as pd

from xmlc.suite.papers.plotting import BLUE, GREEN, GREY, VERMILION, means
from xmlc.suite.results.titles import family, method_title, model_title

COLOURS = {"sto": VERMILION, "fta": BLUE, "ofo": GREEN}
MARKERS = {"sto": "s", "fta": "o", "ofo": "^"}
LINES = {"validation": "dashed", "test": "solid", "chosen": "none"}


def macro_f(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return macro-F of each method against 1/c, on the validation and the test set.

    The line ``chosen`` has the test scores at those c that seeds choose in validation.
    """
    rows = means(numbers, "grid .*", ["method", "c"], "validation_macro_f", "macro_f").iloc[::-1]
    best = numbers[(numbers["variant"] == "") & (numbers["quantity"] == "c")].astype(
        {"value": float}
    )
    chosen = rows.merge(best.rename(columns={"value": "c"})[["method", "c"]].drop_duplicates())
    parts = {
        "validation": rows.assign(y=rows["validation_macro_f"]),
        "test": rows.assign(y=rows["macro_f"]),
        "chosen": chosen.assign(y=chosen["macro_f"]),
    }
    points = pd.concat(parts, names=["part"]).reset_index("part")
    return points.assign(
        x=1 / points["c"],
        label=points["method"].map(method_title) + ", " + points["part"],
        color=points["method"].map(COLOURS),
        linestyle=points["part"].map(LINES),
        marker=points["method"].map(MARKERS).where(points["part"] == "chosen"),
    )


# Models of one program share a colour and a marker.
PROGRAMS = pd.DataFrame(
    [("xmlc", BLUE, "o"), ("napkinXC", VERMILION, "s"), ("omikuji", GREEN, "^")],
    columns=["label", "color", "marker"],
)
CONTROL = r"[\x00-\x1f\x7f-\x9f]"  # Characters that SVG files must not contain.


def quality(numbers: pd.DataFrame, cost: str) -> pd.DataFrame:
    """Return P@1 against a cost of the models that have one, and the Pareto front."""
    rows = means(numbers, "", ["model"], cost, "p@1").dropna()
    return with_front(rows.rename(columns={cost: "x", "p@1": "y"}))


def with_front(points: pd.DataFrame) -> pd.DataFrame:
    """Return points of each ``model`` with styles, and their named Pareto front."""
    front = pareto_front(points)
    names = front["model"].map(model_title).str.replace(CONTROL, "", regex=True)
    models = points.assign(label=points["model"].map(family), name=names, linestyle="none").merge(
        PROGRAMS
    )
    front = pd.concat([front, front.tail(1).assign(x=points["x"].max())])
    front = front.assign(
        label="Pareto front", color=GREY, linestyle="dashed", drawstyle="steps-post"
    )
    return pd.concat([models, front])


def pareto_front(points: pd.DataFrame) -> pd.DataFrame:
    """Return the points on the Pareto front by cost ``x`` and quality ``y``, cheapest first.

    No other point is better at the same or a lower cost, or cheaper at the same quality.
    """
    points = points.sort_values(["x", "y"], ascending=[True, False], kind="stable")
    best_of_cheaper = points["y"].astype(float).cummax().shift(fill_value=-math.inf)
    return points[points["y"] > best_of_cheaper]
