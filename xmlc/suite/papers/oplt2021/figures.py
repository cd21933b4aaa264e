"""The points of Figure 2 of oplt2021 (``figures.yaml``)."""

from __future__ import annotations

import pandas as pd

from xmlc.suite.papers.plotting import BLUE, GREEN, ORANGE, SKY, VERMILION, means
from xmlc.suite.results.titles import model_title, without_passes

# Line styles distinguish curves in black-and-white prints, and a policy's is the same for both
# rules of tree growth.
COLOURS = {
    "oplt-b": BLUE,
    "oplt-r": VERMILION,
    "oplt-b-program": SKY,
    "oplt-r-program": ORANGE,
    "cmt": GREEN,
}
LINES = {"oplt-r": "dashed", "oplt-r-program": "dashed", "cmt": "dotted"}
FIRST = 10  # Instances at which curves begin, because earlier values vary too much


def learning(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return each model's entropy reduction after each number of instances, from accuracies
    averaged over seeds before logarithms are taken.
    """
    from xmlc.metrics.progressive import entropy_reduction  # Loads numba

    rows = means(numbers, "instances=.*", ["model", "instances"], "accuracy")
    constants = means(numbers, "", ["model"], "constant_accuracy").set_index("model")[
        "constant_accuracy"
    ]
    lines = []
    for model, line in rows.groupby("model"):
        bits = entropy_reduction(line["accuracy"].to_numpy(), constants[model])
        base, passes = without_passes(str(model))
        # A stream is one pass, so the title omits the number.
        title = model_title(base if passes == 1 else str(model))
        style = {"color": COLOURS.get(base), "linestyle": LINES.get(base)}
        line = line.assign(x=line["instances"], y=bits, label=title, **style)
        lines.append(line[line["x"] >= min(FIRST, line["x"].max())])
    return pd.concat(lines)
