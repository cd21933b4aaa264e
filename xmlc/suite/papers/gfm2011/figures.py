"""Figure 1 of gfm2011: F-measures and times of inference from samples."""

from __future__ import annotations

from functools import partial

import pandas as pd

from xmlc.suite.config.planned import SIMULATIONS
from xmlc.suite.papers.plotting import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    SKY,
    VERMILION,
    FigureSpec,
    Plot,
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


DISTRIBUTIONS = {
    "independent": "{labels} independent labels, {trials} trials",
    "dependent": "dependent labels, as printed",
    "dependent-signed": "dependent labels, −1 and +1",
}
figure1 = FigureSpec(
    name="figure1",
    needs=(SIMULATIONS,),
    caption=(
        "Expected F against the sample size for three models of labels, and time against the "
        "number of labels. A method that reaches the dotted line finds the best label sets. The "
        "score is the exact expected F under the distribution of the "
        "samples (0/0 = 1), the dotted line is its maximum, and bands show the standard error. As "
        "in the paper, the logit of dependent label i is −(i − 1)/2 + the number of ones before "
        "it. The model with −1 and +1 is not in the paper: the logit of label i is −1 + the sum "
        "of the labels before it. Times from a sample of independent labels to the label set are "
        "means in the fastest of several rounds. MEUF finds the same sets as the published "
        "procedure."
    ),
    narrowest=3,
    plots=(
        *(
            Plot(
                points=partial(scores, distribution=name),
                title=title,
                x="sample size",
                y="expected F (%)",
            )
            for name, title in DISTRIBUTIONS.items()
        ),
        Plot(
            points=times,
            title="{n_samples} samples, {instances} trials, threads: {threads}",
            x="number of labels m",
            y="time (µs)",
            log="y",
        ),
    ),
)
