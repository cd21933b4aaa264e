"""Test napkinXC's online trees as estimators.

The tests need the extra `baselines`, which CI installs.
"""

import numpy as np
import pytest
from scipy import sparse

from benchmarks.baselines import napkinxc_trees as baseline
from benchmarks.baselines.napkinxc_trees import NapkinXCIPLT, NapkinXCOPLT
from xmlc.core.errors import XmlcError

pytestmark = pytest.mark.needs("baselines")
SMALL = {"max_leaf": 4, "n_jobs": 1}


def leaves_of(model):
    """Read the program's text file of a tree.

    Return the parent and the label of each leaf.
    """
    rows = (model._files / "tree.txt").read_text().splitlines()[1:]
    leaves = {}
    for row in rows:
        parent, node, *label = map(int, row.split()[:3])
        if label:
            leaves[node] = parent, label[0]
    return leaves


WARM = [({}, 12), ({"warm_start": 0.3}, 4), ({"warm_start": 1.0, "first_max_leaf": 2}, 2)]


@pytest.mark.parametrize(("warm", "most"), WARM)
def test_tree_contains_all_labels_and_training_is_repeatable(multilabel, warm, most):
    X, Y = multilabel(300, 20, 12, density=0.5)
    model, again = (NapkinXCOPLT(**warm, **SMALL).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(
        again.predict_proba(X).toarray(), model.predict_proba(X).toarray()
    )
    parents, labels = zip(*leaves_of(model).values())
    assert sorted(labels) == list(range(12))
    # Without a warm start, all labels of the first instance are below one node, however many there
    # are.
    assert np.bincount(parents).max() <= most


@pytest.mark.parametrize("estimator", [NapkinXCOPLT, NapkinXCIPLT])
def test_labels_without_instances_are_never_predicted(multilabel, estimator):
    X, Y = multilabel(200, 20, 8, density=0.5)
    dense = np.zeros((200, 11), dtype=bool)
    dense[:, [1, 2, 3, 5, 6, 8, 9, 10]] = Y.toarray()  # No instance has one of the other labels.
    labels, _ = estimator(**SMALL).fit(X, sparse.csr_array(dense)).predict_top_k(X, 11)
    assert set(labels[:, :8].ravel()) == {1, 2, 3, 5, 6, 8, 9, 10}
    assert (labels[:, 8:] == -1).all()


def test_warm_start_extends_tree_of_first_instances(multilabel, monkeypatch):
    # Train on the instances in their order.
    monkeypatch.setattr(baseline, "random_permutation", lambda n, seed, stream: np.arange(n))
    X, Y = multilabel(300, 20, 20, density=0.5)
    dense = Y.toarray()
    dense[:30, 12:] = False  # Only later instances have these labels.
    dense[np.arange(30), np.arange(30) % 12] = True
    first = NapkinXCIPLT(**SMALL).fit(X[:30], sparse.csr_array(dense[:30, :12]))
    warm = NapkinXCOPLT(**SMALL, warm_start=0.1).fit(X, sparse.csr_array(dense))
    before = leaves_of(first)
    after = leaves_of(warm)
    assert len(before) == 12
    assert len(after) == dense.any(axis=0).sum() > 12
    for node, (_, label) in before.items():  # Nodes keep their numbers.
        assert after[node][1] == label


def test_unsupported_input_is_refused(multilabel):
    X, _ = multilabel(50, 20, 6, density=0.5)
    with pytest.raises(XmlcError):
        NapkinXCOPLT(arity=1).fit(X, np.ones((50, 6)))
    with pytest.raises(XmlcError):
        NapkinXCIPLT().fit(X, np.zeros((50, 6), dtype=bool))
