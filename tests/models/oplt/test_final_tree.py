"""The tree that `fit` finds node by node equals the tree that grows while a stream is learned."""

import numpy as np
import pytest
from oplt_cases import oplt, stream

CASES = [
    ("paper", arity, max_leaf, started, first)
    for arity, max_leaf in ((2, 2), (2, 5), (3, 3), (4, 6))
    for started, first in ((None, None), (0.4, None), (0.4, 9), (1.0, None))
    if started is None or arity != 3  # 2-means splits into a power of two
] + [
    ("program", arity, max_leaf, None, None) for arity, max_leaf in ((2, 2), (2, 5), (3, 3), (4, 6))
]


@pytest.mark.parametrize("policy", ["best_greedy", "random"])
@pytest.mark.parametrize(("growth", "arity", "max_leaf", "warm_start", "first_max_leaf"), CASES)
def test_final_tree_equals_tree_of_the_stream(
    growth, arity, max_leaf, warm_start, first_max_leaf, policy
):
    """Streams are short and long, and some instances have more new labels than a node takes
    leaves.
    """
    start = {"warm_start": warm_start, "first_max_leaf": first_max_leaf}
    for seed, (n, m) in enumerate([(1, 3), (4, 30), (15, 9), (40, 90), (150, 60)]):
        X, Y = stream(n=n, m=m, seed=seed)
        Y = Y.toarray()
        Y[0, : min(m, 2 * max_leaf + 1)] = True
        for alpha, balance in ((0.0, "ratio"), (0.75, "ratio"), (0.5, "printed")):
            more = {
                "growth": growth,
                "alpha": alpha,
                "balance": balance,
                "random_state": seed,
            } | start
            expected = oplt(policy, arity, max_leaf, online=True, **more).fit(X, Y).tree_
            found = oplt(policy, arity, max_leaf, n_jobs=2, **more).fit(X, Y).tree_
            np.testing.assert_array_equal(found.children, expected.children)
            np.testing.assert_array_equal(found.label, expected.label)


@pytest.mark.parametrize("policy", ["best_greedy", "random"])
@pytest.mark.parametrize("growth", ["paper", "program"])
def test_memory_depends_on_labels_and_not_on_arity(growth, policy):
    """With 2**30 columns, the classifiers of the root's children would take terabytes."""
    X, Y = stream(n=60, m=20)
    model = oplt(policy, 2**30, 2**31 - 1, growth=growth).fit(X, Y)
    np.testing.assert_array_equal(model.labels_, np.unique(Y.indices))
