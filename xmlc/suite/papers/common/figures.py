"""The figures of every suite, unless a paper has a figure of the same name."""

from __future__ import annotations

import math
from functools import partial

import pandas as pd

from xmlc.suite.config.planned import Where
from xmlc.suite.papers.plotting import BLUE, GREEN, GREY, VERMILION, FigureSpec, Plot, means
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


figure1 = FigureSpec(
    name="figure1",
    needs=(Where("thresholds", "80", methods=tuple(COLOURS)),),
    caption=(
        "Macro-F of STO, FTA and OFO against 1/c, with a panel for each model and dataset. "
        "Markers show the values of c that are chosen on the validation sets of the seeds. A "
        "choice is good if its marker is near the top of the solid line, the test scores."
    ),
    by=("dataset", "model"),
    height=1.0,
    plots=(Plot(points=macro_f, x="1/c", y="macro-F (%)", log="x"),),
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


def cost_of(cost: str, label: str) -> Plot:
    """Specify a panel of `quality`."""
    return Plot(
        points=partial(quality, cost=cost), title="{threads}", x=label, y="P@1 (%)", log="x"
    )


pareto = FigureSpec(
    name="pareto",
    needs=(Where("ranking", "full", baselines=True),),
    caption=(
        "P@1 against training time and prediction time per instance. The dashed line is the "
        "Pareto front, whose models are named: no other is both cheaper and better."
    ),
    narrowest=2.4,
    plots=(
        cost_of("train_seconds", "training (s)"),
        cost_of("predict_ms", "prediction (ms per instance)"),
    ),
)
