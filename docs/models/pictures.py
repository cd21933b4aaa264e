"""Draw the pictures of this folder's pages from small trained models and from measurements.

The picture of PLT is docs/label_tree.svg.
"""

from __future__ import annotations

import csv
import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from xmlc import TextClassifier
from xmlc.models import (
    OPLT,
    BinaryRelevance,
    FastXML,
    LdSM,
    Parabel,
    ProbabilisticClassifierChain,
    SparseWeightedNearestNeighbors,
)
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.fastxml.estimator import BinaryForest
from xmlc.models.trees import LabelTree

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TEXTS = runpy.run_path(str(HERE.parent / "label_tree.py"))["TEXTS"]
QUERY = "Stew the onions in butter and add the carrots"
# the first three are of Okabe and Ito
BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"
GREY = "#666"
STEP = 67  # pixels between the leaves of a tree
BOLD = ' font-weight="bold"'
Point = tuple[float, float]


def words(
    x: float, y: float, text: str, colour: str = "black", anchor: str = "start", style: str = ""
) -> str:
    """Return a line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" '
        f'text-anchor="{anchor}"{style}>{escape(text)}</text>'
    )


def path(points: Sequence[Point], colour: str, style: str = 'fill="none"') -> str:
    """Return a line through points."""
    return (
        f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" stroke="{colour}" {style}/>'
    )


def circle(x: float, y: float, colour: str, filled: bool = True) -> str:
    """Return a small circle."""
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour if filled else "none"}" '
        f'stroke="{colour}"/>'
    )


def bar(x: float, y: float, width: float, colour: str, text: str) -> str:
    """Return a bar, with a text to the right of it."""
    shape = f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="{width:.1f}" height="11" fill="{colour}"/>'
    return shape + words(x + width + 6, y, text)


def dots(
    rows: Mapping[str, Mapping[str, float]], ticks: Sequence[float], title: str
) -> Iterator[str]:
    """Draw the values of each row on a common axis.

    All rows have the same series, and the last series is filled.
    """
    left = 140
    top = 50
    series = [*next(iter(rows.values()))]
    end = top + 32 * len(rows)
    looks = {
        **dict(zip(series, ((BLUE, False), (GREEN, False), (GREY, False)))),
        series[-1]: (ORANGE, True),
    }

    def at(value: float) -> float:
        return left + (value - ticks[0]) / (ticks[-1] - ticks[0]) * 600

    for number, (name, look) in enumerate(looks.items()):
        yield circle(left + 130 * number, 20, *look) + words(left + 12 + 130 * number, 24, name)
    for tick in ticks:
        yield path([(at(tick), top - 12), (at(tick), end - 8)], "#ccc")
        yield words(at(tick), end + 8, f"{tick:g}", anchor="middle")
    for line, (name, values) in enumerate(rows.items()):
        y = top + 32 * line + 8
        yield words(20, y + 4, name)
        for one, value in values.items():
            yield circle(at(value), y, *looks[one])
    yield words(left + 300, end + 30, title, anchor="middle")


def classifier(model: SparseProbabilityEstimator) -> TextClassifier:
    """Return a classifier of the example texts."""
    return TextClassifier(model, TfidfVectorizer(stop_words="english")).fit(TEXTS, TEXTS.values())


def stacking() -> Iterator[str]:
    """Draw how much `Stacking` gains on each of its members."""
    with open(ROOT / "results/benchmarks/programs.csv", newline="") as file:
        found = [
            row for row in csv.DictReader(file) if row["measure"] == "nDCG@5 of Stacking minus this"
        ]
    rows: dict[str, dict[str, float]] = {}
    for row in found:
        if row["contender"] in ("SWNN", "PLT"):
            rows.setdefault(row["dataset"], {})[f"gain on {row['contender']}"] = float(row["value"])
    return dots(rows, range(9), "nDCG@5 of Stacking minus nDCG@5 of the member, points")


def parabel() -> Iterator[str]:
    """Draw the scores of each tree for one text, and their means."""
    model = classifier(Parabel(max_leaf=2, random_state=4))
    x = model.features([QUERY])
    rows = {}
    scores = [tree.predict_proba(x).toarray()[0] for tree in model.estimator_.trees_]
    for label in np.argsort(-np.mean(scores, axis=0)):
        one = {f"tree {number}": float(of_tree[label]) for number, of_tree in enumerate(scores, 1)}
        rows[str(model.classes_[label])] = one | {"mean": float(np.mean([*one.values()]))}
    return dots(rows, np.arange(0, 1.1, 0.2), f"score for “{QUERY}”")


def draw_tree(tree: LabelTree, names: Sequence[str], known: set[int], left: float) -> Iterator[str]:
    """Draw a label tree. Labels that are not ``known`` are orange."""
    places: dict[int, Point] = {}
    leaves = iter(range(tree.n_nodes))

    def place(node: int, level: int) -> Point:
        below = [
            place(child, level + 1) for child in range(tree.children[node], tree.children[node + 1])
        ]
        if below:
            x = sum(x for x, _ in below) / len(below)
        else:
            x = left + STEP * next(leaves)
        places[node] = x, 60 + 48 * level
        return places[node]

    place(0, 0)
    for node in range(1, tree.n_nodes):
        yield path([places[tree.parent[node]], places[node]], GREY)
    for node, (x, y) in places.items():
        label = int(tree.label[node])
        colour = BLUE
        if label >= 0 and label not in known:
            colour = ORANGE
        yield circle(x, y, colour)
        if label >= 0:
            yield words(x, y + 22, names[label], colour, "middle")


def oplt() -> Iterator[str]:
    """Draw the tree after one, two and four instances of a stream."""
    names = sorted(set(chain.from_iterable(TEXTS.values())))
    X = TfidfVectorizer(stop_words="english").fit_transform(TEXTS)
    Y = np.array([np.isin(names, list(labels)) for labels in TEXTS.values()], dtype=np.int64)
    model = OPLT(max_leaf=2)
    left = 40.0
    known = set[int]()
    for title, learned in (
        ("after 1 text", [0]),
        ("after 2 texts", [3]),
        ("after 4 texts", [6, 9]),
    ):
        model.partial_fit(X[learned], Y[learned])
        yield words(left - 25, 24, title, style=BOLD)
        yield from draw_tree(model.tree_, names, known, left)
        known |= {*map(int, model.labels_)}
        left += STEP * model.tree_.n_labels + 12
    yield words(
        20,
        252,
        "Orange labels are new. Here a node has at most two children, so new labels also bring "
        "new inner nodes.",
    )


def swnn() -> Iterator[str]:
    """Draw the nearest texts of a text, their votes, and the shares of the labels."""
    model = classifier(SparseWeightedNearestNeighbors(S=4, beta=0))
    neighbours, similarities = model.estimator_.neighbours(model.features([QUERY]))
    yield words(20, 24, f"The nearest texts of “{QUERY}”", style=BOLD)
    yield words(370, 50, "vote: squared similarity", GREY) + words(570, 50, "labels", GREY)
    y = 74
    for number, similarity in zip(neighbours[0], similarities[0]):
        text, labels = [*TEXTS.items()][number]
        yield words(20, y, text) + bar(370, y, 320 * similarity**2, BLUE, f"{similarity**2:.2f}")
        yield words(570, y, ", ".join(labels))
        y += 24
    yield words(20, y + 22, "Share of the votes", style=BOLD)
    for number, (label, share) in enumerate(model.predict([QUERY], 3)[0]):
        yield words(20, y + 48 + 24 * number, label)
        yield bar(120, y + 48 + 24 * number, 250 * share, ORANGE, f"{share:.2f}")


def ldsm() -> Iterator[str]:
    """Draw a tree with one node that is split, the leaves that a text reaches, and the label shares
    in the leaves.
    """
    model = classifier(LdSM(n_trees=1, arity=3, max_nodes=4))
    query = "Plant the tulips next to the carrots"
    forest = model.estimator_.forest_
    x = model.features([query]).toarray()[0]
    margins = forest.biases[0] + x[forest.features] @ forest.weights
    yield words(
        380,
        24,
        f"“{query}” goes to each leaf whose regressor reaches ½",
        anchor="middle",
        style=BOLD,
    )
    yield words(380, 52, f"root: {len(TEXTS)} texts", anchor="middle")
    for direction, margin in enumerate(margins):
        leaf = ~forest.children[0, direction]
        left = 20 + 250 * direction
        colour, thick = (ORANGE, 3) if margin >= 0.5 else (GREY, 1)
        yield path([(380, 60), (left + 110, 130)], colour, f'stroke-width="{thick}"')
        yield words(left + (190, 118, 20)[direction], 90, f"{margin:.2f}".replace("-", "−"), colour)
        yield words(left + 110, 148, f"leaf: {forest.sizes[leaf]} texts", colour, "middle")
        own = slice(forest.leaf_starts[leaf], forest.leaf_starts[leaf + 1])
        shares = zip(forest.counts[own] / forest.sizes[leaf], model.classes_[forest.labels[own]])
        for row, (share, label) in enumerate(sorted(shares, reverse=True)):
            yield words(left, 174 + 22 * row, label) + bar(
                left + 78, 174 + 22 * row, 100 * share, BLUE, f"{share:.2f}"
            )
    means = ", ".join(f"{label} {share:.2f}" for label, share in model.predict([query], 5)[0])
    yield words(20, 280, f"Estimates, the means of both leaves: {means}")


def clipped(polygon: Sequence[Point], linear: Callable[[Point], float]) -> list[Point]:
    """Return the part of a convex polygon on which a linear function is not negative."""
    kept = []
    for start, end in zip(polygon, [*polygon[1:], polygon[0]]):
        one = linear(start)
        other = linear(end)
        kept += [start] if one >= 0 else []
        if one * other < 0:
            kept.append(tuple(np.add(start, np.subtract(end, start) * one / (one - other))))
    return kept


def regions(
    forest: BinaryForest, node: int, polygon: list[Point]
) -> Iterator[tuple[int, list[Point]]]:
    """Yield each leaf below a node with its part of a polygon."""
    if node < 0:
        yield ~node, polygon
        return
    weights = np.zeros(2)
    own = slice(forest.weight_starts[node], forest.weight_starts[node + 1])
    weights[forest.features[own]] = forest.weights[own]
    for side, sign in enumerate((-1, 1)):
        part = clipped(
            polygon, lambda at, sign=sign: sign * float(at @ weights + forest.biases[node])
        )
        yield from regions(forest, int(forest.children[2 * node + side]), part)


def fastxml() -> Iterator[str]:
    """Draw the regions into which one tree divides the plane, with the training instances."""
    rng = np.random.default_rng(2)
    centres = np.array([(0.2, 0.3), (0.5, 0.75), (0.8, 0.3)])
    X = (centres[:, None] + rng.normal(scale=0.11, size=(3, 30, 2))).clip(0.03, 0.97).reshape(-1, 2)
    forest = (
        FastXML(n_trees=1, random_state=2)
        .fit(X, np.repeat(np.eye(3, dtype=int), 30, axis=0))
        .forest_
    )
    light = ("#d5e8f4", "#cdebe0", "#f9e0d1")
    dark = (BLUE, GREEN, ORANGE)

    def place(at: Sequence[float]) -> Point:
        return 20 + 480 * at[0], 320 - 300 * at[1]

    for leaf, polygon in regions(forest, int(forest.roots[0]), [(0, 0), (1, 0), (1, 1), (0, 1)]):
        own = slice(forest.leaf_starts[leaf], forest.leaf_starts[leaf + 1])
        labels = forest.labels[own]
        shares = forest.counts[own] / forest.sizes[leaf]
        best = labels[np.argmax(shares)]
        yield path([*map(place, polygon)], "black", f'fill="{light[best]}"')
        told = ", ".join(f"{'ABC'[label]} {share:.2f}" for label, share in zip(labels, shares))
        yield words(
            520, 70 + 90 * best, f"leaf with {forest.sizes[leaf]} instances", dark[best], style=BOLD
        )
        yield words(520, 90 + 90 * best, f"shares: {told}")
    yield words(520, 30, "Circles are training instances.")
    for number, at in enumerate(X):
        yield circle(*place(at), dark[number // 30])


def br_and_pcc() -> Iterator[str]:
    """Draw how often sets of two labels occur that exclude each other, and the estimates of BR and
    PCC.
    """
    sets = {"no label": (0, 0), "fiction": (1, 0), "non-fiction": (0, 1), "both labels": (1, 1)}
    X = np.ones((200, 1))
    Y = np.tile(np.eye(2, dtype=int), (100, 1))
    first, second = BinaryRelevance().fit(X, Y).predict_proba(X[:1]).toarray()[0]
    drawn = ProbabilisticClassifierChain().fit(X, Y).sample(X[:1], 1000).toarray()
    estimates: dict[str, Callable[[np.ndarray], float]] = {
        "training set": lambda one: (one == Y).all(axis=1).mean(),
        "BR: product of estimates": lambda one: np.prod(
            np.where(one, (first, second), (1 - first, 1 - second))
        ),
        "PCC: share of drawn sets": lambda one: (one == drawn).all(axis=1).mean(),
    }
    for column, (title, estimate) in enumerate(estimates.items()):
        left = 110 + 225 * column
        yield words(left, 24, title, style=BOLD)
        for row, (name, one) in enumerate(sets.items()):
            share = float(estimate(np.array(one)))
            yield bar(
                left, 56 + 28 * row, 240 * share, (GREY, BLUE, ORANGE)[column], f"{share:.2f}"
            )
            yield words(20, 56 + 28 * row, name) if column == 0 else ""


PICTURES = {one.__name__: one for one in (stacking, parabel, oplt, swnn, ldsm, fastxml, br_and_pcc)}
HEIGHTS = {
    "stacking": 290,
    "parabel": 258,
    "oplt": 266,
    "swnn": 270,
    "ldsm": 294,
    "fastxml": 340,
    "br_and_pcc": 160,
}


def figure(name: str) -> Iterator[str]:
    """Yield the lines of a picture as SVG."""
    height = HEIGHTS[name]
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="760" height="{height}" viewBox="0 0 760 '
        f'{height}"'
    )
    yield (
        ' font-family="sans-serif" font-size="12.5"><rect width="100%" height="100%" fill="white"/>'
    )
    yield from PICTURES[name]()
    yield "</svg>"


if __name__ == "__main__":
    for name in PICTURES:
        (HERE / f"{name}.svg").write_text("\n".join(figure(name)) + "\n", encoding="utf-8")
