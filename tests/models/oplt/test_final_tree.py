"""The tree that `fit` finds node by node equals the tree that grows while a stream is learned."""

import numpy as np
import pytest
from oplt_cases import oplt, stream
from sklearn.base import clone

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
def test_fit_is_bit_identical_to_training_on_the_stream(
    growth, arity, max_leaf, warm_start, first_max_leaf, policy
):
    """`fit` has two phases, the second on several threads. With online=True, `fit` has one phase.

    Streams are short and long, and some instances have more new labels than a node takes leaves.
    """
    more = {"growth": growth, "warm_start": warm_start, "first_max_leaf": first_max_leaf}
    for seed, (n, m) in enumerate([(1, 3), (4, 30), (15, 9), (40, 90), (150, 60)]):
        X, Y = stream(n=n, m=m, seed=seed)
        Y = Y.toarray()
        Y[0, : 2 * max_leaf + 1] = True
        for alpha, balance, epochs in ((0.0, "ratio", 1), (0.75, "ratio", 3), (0.5, "printed", 1)):
            model = oplt(policy, arity, max_leaf, random_state=seed, n_jobs=2, **more)
            model.set_params(alpha=alpha, balance=balance, epochs=epochs).fit(X, Y)
            online = clone(model).set_params(online=True).fit(X, Y)
            assert model.n_instances_ == online.n_instances_ == epochs * n
            np.testing.assert_array_equal(model.labels_, online.labels_)
            for array, expected in zip(model.to_plt().nodes_, online.to_plt().nodes_, strict=True):
                assert array.tobytes() == expected.tobytes()


@pytest.mark.parametrize("policy", ["best_greedy", "random"])
@pytest.mark.parametrize("growth", ["paper", "program"])
def test_memory_depends_on_labels_and_not_on_arity(growth, policy):
    """With 2**30 columns, the classifiers of the root's children would take terabytes."""
    X, Y = stream(n=60, m=20)
    model = oplt(policy, 2**30, 2**31 - 1, growth=growth).fit(X, Y)
    np.testing.assert_array_equal(model.labels_, np.unique(Y.indices))
