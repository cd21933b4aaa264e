"""The ranking by a forest: every tree is descended and every row added up once, on any number of threads."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.bench.limits.work import ROWS, forest_ranking, ranking_call
from xmlc.models.fastxml import FastXML


def fitted_forest(multilabel, n):
    X, Y = multilabel(n, 10, 5)
    return FastXML(n_trees=3, random_state=1).fit(X, Y), X


def test_a_ranking_is_the_models_and_leaves_it_as_it_was(multilabel):
    model, X = fitted_forest(multilabel, 40)
    labels, scores = model.predict_top_k(X, 5)
    for threads in (1, 2):
        arrays = ranking_call(model, X)(threads)
        np.testing.assert_array_equal(arrays["labels"], labels)
        np.testing.assert_array_equal(arrays["scores"], scores)
    assert model.n_jobs == FastXML().n_jobs


@pytest.mark.parametrize("threads", [1, 2])
def test_bare_accesses_take_each_tree_and_each_row_once(multilabel, threads):
    model, _ = fitted_forest(multilabel, 40)
    descended, added = [], []
    X = sparse.csr_array((2 * ROWS + 1, 10), dtype=np.float32)

    def add_up(first, last):
        added.append((first, last))
        return 0.0

    def descend(tree):
        descended.append(tree)
        return 0.0

    work = forest_ranking("FastXML", model, X, "non-zero x node", 30.0, 10.0, ["a", "b", "c"], descend, add_up)
    work.bare(threads)
    assert sorted(descended) == ["a", "b", "c"]
    assert sorted(added) == [(0, ROWS), (ROWS, 2 * ROWS), (2 * ROWS, 2 * ROWS + 1)]
    assert (work.contender, work.units, work.bare_units, work.note) == ("FastXML, 3 trees", 40.0, 40.0, "labels 25 %")
    assert work.unit == "non-zero x node, or label of a leaf"
