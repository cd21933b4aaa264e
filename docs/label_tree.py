"""Draw the figure of the page "Models": a small label tree, and the path to its best label for one
text.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from xmlc import PLT, TextClassifier
from xmlc.models.trees import LabelTree
from xmlc.suite.papers.plotting import BLUE as PATH

HERE = Path(__file__).parent
FIGURE = HERE / "label_tree.svg"
QUERY = "Stew the onions in butter"
TEXTS = {
    "Simmer the tomatoes with garlic and basil": ["cooking", "vegetables"],
    "Fry the onions in butter, add the rice and stir": ["cooking", "vegetables"],
    "Roast the carrots with honey and thyme": ["cooking", "vegetables"],
    "Whisk the eggs with sugar, then fold in the flour": ["baking", "cooking"],
    "Knead the flour with water and yeast": ["baking", "cooking"],
    "Bake the cake for forty minutes and let it cool": ["baking", "cooking"],
    "Sow the carrots in rows once the soil is warm": ["gardening", "vegetables"],
    "Water the tomatoes in the morning": ["gardening", "vegetables"],
    "Plant the onions in March, in loose soil": ["gardening", "vegetables"],
    "Prune the roses in spring, above a bud": ["flowers", "gardening"],
    "Tulips flower in spring if the bulbs are set in autumn": ["flowers", "gardening"],
    "Cut the lavender after it has flowered": ["flowers", "gardening"],
}
# pixels
WIDTH = 110
LEVEL = 78
TOP = 42
OTHER = "#666"


def trained() -> TextClassifier:
    """Return a classifier whose tree has two children for each inner node."""
    vectorizer = TfidfVectorizer(stop_words="english")
    return TextClassifier(PLT(arity=2, max_leaf=2), vectorizer).fit(TEXTS, TEXTS.values())


def node_probabilities(model: TextClassifier) -> list[float]:
    """Return the estimate of each node for the query, given its parent."""
    plt = model.estimator_
    x = model.features([QUERY]).toarray()[0]
    x = x / np.linalg.norm(x)
    nodes = plt.nodes_
    found = []
    for block in range(len(nodes.children)):
        first, end = (0, 1) if block == 0 else nodes.children[block - 1 : block + 1]
        features = nodes.features[nodes.feature_starts[block] : nodes.feature_starts[block + 1]]
        weights = nodes.weights[nodes.weight_starts[block] : nodes.weight_starts[block + 1]]
        scores = []
        if end > first:
            scores = x[features] @ weights.reshape(-1, end - first) + nodes.bias[first:end]
        found += [float(1 / (1 + np.exp(-score))) for score in scores]
    return found


def places(tree: LabelTree, depth: list[int]) -> dict[int, tuple[float, float]]:
    """Return the position of each node. A parent is above the middle of its children."""

    def children(node: int) -> range:
        return range(tree.children[node], tree.children[node + 1])

    def order(node: int) -> list[int]:
        below = [order(child) for child in children(node)]
        return list(chain.from_iterable(below)) or [node]

    place = {}
    x = {leaf: 70 + WIDTH * number for number, leaf in enumerate(order(0))}
    for node in reversed(range(tree.n_nodes)):
        x.setdefault(node, 0)
        x[node] = x[node] or sum(x[child] for child in children(node)) / len(children(node))
        place[node] = x[node], TOP + LEVEL * depth[node]
    return place


def figure() -> Iterator[str]:
    """Draw the tree as SVG, with the estimate of each node and the product along the path of the
    best label.
    """
    model = trained()
    tree = model.estimator_.tree_
    given = node_probabilities(model)
    absolute = []
    depth = []
    for node, parent in enumerate(tree.parent):
        absolute.append(given[node] * (absolute[parent] if node else 1))
        depth.append(depth[parent] + 1 if node else 0)
    leaves = [node for node in range(tree.n_nodes) if tree.label[node] >= 0]
    best = max(leaves, key=absolute.__getitem__)
    path = [best]
    while path[-1]:
        path.append(int(tree.parent[path[-1]]))
    place = places(tree, depth)
    width = 140 + WIDTH * (len(leaves) - 1)
    height = TOP + LEVEL * max(depth) + 78
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        'font-family="sans-serif"'
    )
    yield ' font-size="12" text-anchor="middle"><rect width="100%" height="100%" fill="white"/>'
    yield f'<text x="{width / 2:g}" y="18" font-style="italic">{QUERY}</text>'
    for node in range(1, tree.n_nodes):
        x1, y1 = place[tree.parent[node]]
        x2, y2 = place[node]
        colour, thick = (PATH, 3) if node in path else (OTHER, 1)
        yield f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{colour}" stroke-width="{thick}"/>'
    for node in range(tree.n_nodes):
        at, y = place[node]
        colour = OTHER
        if node in path:
            colour = PATH
        yield (
            f'<rect x="{at - 19:g}" y="{y - 11:g}" width="38" height="22" rx="11" fill="white" '
            f'stroke="{colour}"/>'
        )
        yield f'<text x="{at:g}" y="{y + 4:g}" fill="{colour}">{given[node]:.2f}</text>'
        if tree.label[node] >= 0:
            name = model.classes_[tree.label[node]]
            weight = "normal"
            if node == best:
                weight = "bold"
            yield (
                f'<text x="{at:g}" y="{y + 28:g}" fill="{colour}" '
                f'font-weight="{weight}">{name}</text>'
            )
            yield (
                f'<text x="{at:g}" y="{y + 44:g}" fill="{colour}" '
                f'font-weight="{weight}">{absolute[node]:.2f}</text>'
            )
    product = " × ".join(f"{given[node]:.2f}" for node in reversed(path))
    yield f'<text x="{width / 2:g}" y="{height - 10:g}" fill="{PATH}">'
    yield (
        f"P({model.classes_[tree.label[best]]} | text) = {product} = "
        f"{absolute[best]:.2f}</text></svg>"
    )


if __name__ == "__main__":
    FIGURE.write_text("\n".join(figure()) + "\n", encoding="utf-8")
