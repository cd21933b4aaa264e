"""Training a share of a forest."""

import numpy as np
import pytest

from xmlc.errors import XmlcError
from xmlc.measuring.training import fit_timed, share_of_trees
from xmlc.models import PLT


@pytest.mark.parametrize(("n_trees", "n"), [(50, 8), (3, 3), (7, 1), (10, 4)])
def test_shares_are_all_trees_once_and_nearly_equal(n_trees, n):
    shares = [share_of_trees(f"{i}-of-{n}", n_trees) for i in range(1, n + 1)]
    assert [tree for first, last in shares for tree in range(first, last)] == list(range(n_trees))
    sizes = [last - first for first, last in shares]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("share", ["0-of-2", "3-of-2", "1-of-4", "2", "a-of-b", "01-of-2"])
def test_what_is_no_share_is_refused(share):
    with pytest.raises(XmlcError, match=f"share '{share}' of 3 trees: expected I-of-N with I <= N <= 3"):
        share_of_trees(share, 3)


def test_only_a_forest_has_shares():
    with pytest.raises(XmlcError, match="PLT is no forest: no share of its trees can be grown"):
        fit_timed(PLT(max_leaf=2, arity=2, epochs=1), np.eye(4), np.eye(4), "1-of-2")
