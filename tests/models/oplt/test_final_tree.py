"""The tree that `fit` finds node by node equals the tree that grows while a stream is learned."""

import numpy as np
import pytest
from oplt_cases import oplt, stream

CASES = [
    ("paper", 2, 2, None, None),
    ("paper", 3, 3, None, None),
    ("paper", 4, 6, None, None),
    ("paper", 2, 5, 0.4, None),
    ("paper", 4, 6, 0.4, 9),
    ("paper", 2, 2, 1.0, None),
    ("program", 2, 2, None, None),
    ("program", 3, 3, None, None),
    ("program", 4, 6, None, None),
]


@pytest.mark.parametrize("policy", ["best_greedy", "random"])
@pytest.mark.parametrize(("growth", "arity", "max_leaf", "warm_start", "first_max_leaf"), CASES)
def test_final_tree_equals_tree_of_the_stream(
    growth, arity, max_leaf, warm_start, first_max_leaf, policy
):
    """Streams are short and long, and some instances have more new labels than a node takes
    leaves.
    """
    more = {"growth": growth, "warm_start": warm_start, "first_max_leaf": first_max_leaf}
    for seed, (n, m) in enumerate([(1, 3), (4, 30), (15, 9), (40, 90), (150, 60)]):
        X, Y = stream(n=n, m=m, seed=seed)
        Y = Y.toarray()
        Y[0, : 2 * max_leaf + 1] = True
        for alpha, balance in ((0.0, "ratio"), (0.75, "ratio"), (0.5, "printed")):
            model = oplt(policy, arity, max_leaf, random_state=seed, n_jobs=2, **more)
            model.set_params(alpha=alpha, balance=balance)
            found = model.fit(X, Y).tree_
            expected = model.set_params(online=True).fit(X, Y).tree_
            np.testing.assert_array_equal(found.children, expected.children)
            np.testing.assert_array_equal(found.label, expected.label)


@pytest.mark.parametrize("policy", ["best_greedy", "random"])
@pytest.mark.parametrize("growth", ["paper", "program"])
def test_memory_depends_on_labels_and_not_on_arity(growth, policy):
    """With 2**30 columns, the classifiers of the root's children would take terabytes."""
    X, Y = stream(n=60, m=20)
    model = oplt(policy, 2**30, 2**31 - 1, growth=growth).fit(X, Y)
    np.testing.assert_array_equal(model.labels_, np.unique(Y.indices))
