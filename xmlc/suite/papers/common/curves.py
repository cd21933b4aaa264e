"""Specify Figure 1 of plt2016, which every suite has: macro-F against 1/c."""

from __future__ import annotations

import pandas as pd

from xmlc.suite.config.planned import Where
from xmlc.suite.papers.plotting import BLUE, GREEN, VERMILION, FigureSpec, Plot, means
from xmlc.suite.results.titles import method_title

COLOURS = {"sto": VERMILION, "fta": BLUE, "ofo": GREEN}
MARKERS = {"sto": "s", "fta": "o", "ofo": "^"}
LINES = {"validation": "dashed", "test": "solid", "chosen": "none"}


def macro_f(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return macro-F against 1/c, for each method, on the validation set and on the test set.

    The line ``chosen`` consists of the points of the test set whose c is chosen on the validation set of a seed.
    """
    rows = means(numbers, "grid .*", ["method", "c"], "validation_macro_f", "macro_f").iloc[::-1]
    best = numbers[(numbers["variant"] == "") & (numbers["quantity"] == "c")]
    chosen = pd.MultiIndex.from_frame(best[["method", "value"]])
    is_chosen = pd.MultiIndex.from_frame(rows[["method", "c"]]).isin(chosen)
    parts = {
        "validation": rows.assign(y=rows["validation_macro_f"]),
        "test": rows.assign(y=rows["macro_f"]),
        "chosen": rows[is_chosen].assign(y=rows["macro_f"]),
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
        "Macro-F of STO, FTA and OFO against 1/c, with a panel for each model and dataset. Markers show the values of "
        "c that are chosen on the validation sets of the seeds."
    ),
    by=("dataset", "model"),
    height=1.0,
    plots=(Plot(points=macro_f, axes={"xscale": "log", "xlabel": "1/c", "ylabel": "macro-F (%)"}),),
)
