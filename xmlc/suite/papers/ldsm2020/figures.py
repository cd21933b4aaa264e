"""The points of the figures of ldsm2020 (``figures.yaml``)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from xmlc.suite.papers.plotting import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    SKY,
    VERMILION,
    facts,
    means,
)

OURS = "ldsm"
# Has binary trees on delicious, as in Figures 1, 3 and 7, but Table 4 has M = 4.
BINARY = "ldsm-mean"
TITLES = {"fastxml": "FastXML", OURS: "LdSM"}
SINGLE = "-single"  # Ends the names of best single trees of a search
# One colour and marker for each k, solid for precision and dashed for nDCG. But nDCG@1 is P@1.
MEASURES = pd.DataFrame(
    [
        ("p@1", "P@1", BLUE, "o", BLUE, "solid"),
        ("p@3", "P@3", VERMILION, "s", VERMILION, "solid"),
        ("p@5", "P@5", GREEN, "^", GREEN, "solid"),
        ("ndcg@3", "nDCG@3", VERMILION, "s", "white", "dashed"),
        ("ndcg@5", "nDCG@5", GREEN, "^", "white", "dashed"),
    ],
    columns=["quantity", "label", "color", "marker", "markerfacecolor", "linestyle"],
)
DEPTH = pd.DataFrame(
    [("depth", "depth", BLACK, "v")], columns=["quantity", "label", "color", "marker"]
)
LEVELS = ["#440154", "#3d4d8a", "#23898e", "#3bbb75", "#bddf26"]
SHADES = (GREY, GREEN, VERMILION, SKY)  # One for each arity in Figure 2
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def scores(
    numbers: pd.DataFrame,
    variants: str,
    x: str,
    model: str = OURS,
    quantities: pd.DataFrame = MEASURES,
) -> pd.DataFrame:
    """Return quantities of a model's forests against a number of parts, such as ``n_trees=5``."""
    names = quantities["quantity"]
    rows = means(numbers[numbers["model"] == model], variants, ["model", x], *names)
    return rows.melt(x, names, "quantity", "y").merge(quantities).rename(columns={x: "x"})


def growth(numbers: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return a model's scores against the number of trees."""
    return scores(numbers, "n_trees=.*", "n_trees", model)


def scores_by_size(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return LdSM's scores against the maximum number of nodes per tree."""
    return scores(numbers, "max_nodes=.*", "value")


def depth_by_size(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the depth of LdSM's trees against the maximum number of nodes per tree."""
    return scores(numbers, "max_nodes=.*", "value", quantities=DEPTH)


def single_trees(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of LdSM's and FastXML's single trees and ensembles, from bottom to top.

    Names end in 1 for the first tree, and in 1* for the best of a search.
    """
    names = MEASURES["quantity"]
    forests = means(numbers, "n_trees=.*", ["model", "n_trees"], *names)
    last = forests.groupby("model").tail(1)
    best = means(numbers[numbers["model"].str.endswith(SINGLE)], "", ["model"], *names)
    parts = [
        last.assign(name=last["n_trees"].map("-{:g}".format)),
        best.assign(name="-1*", model=best["model"].str.removesuffix(SINGLE)),
        forests.groupby("model").head(1).assign(name="-1"),
    ]
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.assign(y=rows["model"].map(TITLES) + rows["name"]).dropna(subset="y")
    return rows.melt("y", names, "quantity", "x").merge(MEASURES).assign(linestyle="none")


def depths(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the largest depth on each dataset, and multiples of a balanced tree's."""
    rows = means(numbers, "", ["dataset", "m", "arity"], "depth")
    trees = rows.assign(
        x=rows["m"], y=rows["depth"], name=rows["dataset"] + rows["arity"].map(", M = {:g}".format)
    )
    lines = [trees.assign(label="LdSM", color=BLUE, marker="o", linestyle="none")]
    # Lines are straight on a logarithmic scale, so two points suffice.
    ends = pd.DataFrame({"x": [rows["m"].min() / 2, 2 * rows["m"].max()]})
    for arity, colour in zip(rows["arity"].sort_values().unique(), SHADES, strict=False):
        name = f"log{arity:g}".translate(SUBSCRIPTS)
        for factor, style in {1: "solid", 2: "dashed", 3: "dotted"}.items():
            line = ends.assign(y=factor * np.log(ends["x"]) / math.log(arity))
            lines.append(line.assign(label=f"{factor} {name} K", color=colour, linestyle=style))
    return pd.concat(lines)


def objectives(numbers: pd.DataFrame, tree: int) -> pd.DataFrame:
    """Return the objectives J against epochs on five levels of a tree, and their bounds (Lemma 1).

    Lines are means over a level's nodes for the first seed, and bands have their range.
    """
    about = facts(numbers)
    numbers = numbers[numbers["record"] == numbers["record"].iloc[0]]
    rows = means(
        numbers, f"tree {tree}, .*", ["level", "epoch"], "level_nodes", "minimum", "mean", "maximum"
    )
    rows = rows.rename(columns={"epoch": "x", "mean": "y", "minimum": "low", "maximum": "high"})
    if rows.empty:
        return rows
    levels = rows["level"].unique()
    lines = []
    places = np.unique(np.linspace(0, len(levels) - 1, len(LEVELS)).round().astype(int))
    for place, colour in zip(places, LEVELS, strict=False):
        line = rows[rows["level"] == levels[place]]
        lines.append(
            line.assign(label="{level:g} ({level_nodes:g})".format_map(line.iloc[0]), color=colour)
        )
    for bound in (-about["lambda_1"], about["lambda_2"]):
        height = bound * (about["arity"] - 1)
        line = line.assign(y=height, low=height, high=height, color=GREY, linestyle="dotted")
        lines.append(line.assign(label=f"_bound {bound}"))
    return pd.concat(lines)
