"""docs/label_tree.svg: the figure of the page "Models" shows the estimates of a trained tree."""

import runpy

import pytest
from repository import ROOT

MAKER = runpy.run_path(str(ROOT / "docs/label_tree.py"))


def test_figure_shows_estimates_of_trained_tree():
    assert MAKER["FIGURE"].read_text(encoding="utf-8") == "\n".join(MAKER["figure"]()) + "\n"


def test_products_along_paths_equal_estimates():
    model = MAKER["trained"]()
    tree, given = model.estimator_.tree_, MAKER["node_probabilities"](model)
    estimates = dict(model.predict([MAKER["QUERY"]], 5)[0])
    for leaf, label in enumerate(tree.label):
        if label >= 0:
            node, product = leaf, given[leaf]
            while node := tree.parent[node]:
                product *= given[node]
            assert estimates[model.classes_[label]] == pytest.approx(product * given[0], abs=1e-5)
