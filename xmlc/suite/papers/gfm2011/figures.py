"""The points of Figure 1 of gfm2011 (``figures.yaml``)."""

from __future__ import annotations

import pandas as pd

from xmlc.suite.papers.plotting import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    SKY,
    VERMILION,
    means,
)
from xmlc.suite.results.titles import method_title

# A variant has a lighter colour than its method, a dashed line and hollow markers.
STYLES = pd.DataFrame(
    [
        ("gfm", BLUE, "o", BLUE, "solid"),
        ("gfm-t", SKY, "^", "white", "dashed"),
        ("meuf", VERMILION, "s", VERMILION, "solid"),
        ("meuf-approx", ORANGE, "D", "white", "dashed"),
        ("meuf-cubic", BLACK, "v", BLACK, "solid"),
    ],
    columns=["method", "color", "marker", "markerfacecolor", "linestyle"],
)
STYLES["label"] = STYLES["method"].map(method_title)


def scores(numbers: pd.DataFrame, distribution: str) -> pd.DataFrame:
    """Return each method's expected F by sample size, and its maximum."""
    numbers = numbers.assign(method=numbers["variant"].str.split(", ").str[1])
    by = ["method", "samples"]
    points = means(
        numbers, f"{distribution}, .* samples", by, "expected_f", "standard_error"
    ).merge(STYLES)
    error = points["standard_error"]
    points = points.assign(x=points["samples"], y=points["expected_f"])
    points = points.assign(low=points["y"] - error, high=points["y"] + error)
    (optimum,) = numbers.loc[
        (numbers["variant"] == distribution) & (numbers["quantity"] == "optimum"), "value"
    ]
    maximum = pd.DataFrame({"x": [0, points["x"].max()], "y": optimum})
    return pd.concat([maximum.assign(label="maximum", color=GREY, linestyle="dotted"), points])


def times(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return microseconds of each method by number of labels."""
    times = numbers[numbers["variant"].str.fullmatch(r"\d+ labels")]
    labels = times["variant"].str.removesuffix(" labels").astype(int)
    return times.assign(method=times["quantity"], x=labels, y=1000 * times["value"]).merge(
        STYLES, on="method"
    )
