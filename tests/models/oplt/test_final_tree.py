"""The tree that `fit` finds node by node equals the tree that grows while a stream is learned, and
the tree of the authors' program.
"""

import numpy as np
import pytest
from oplt_cases import oplt, shape, stream
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


# The tree of napkinXC 0.7.2 for the stream below: best-greedy by balance alone, arity 3, at most 4
# leaves.
TREE_OF_NAPKINXC = (
    (
        (((0, 1, 2, 3, 4), ((22, 23, 24, 25), (26,)), 27, 28), (40, 41), 42, 43),
        (51, 52),
        53,
        54,
    ),
    (
        (((5, 9, 10, 11), (13, 14, 15), 16, 17), ((33, 34, 35, 36), (37,)), 38, 39),
        ((55, 56, 57, 58), (59,)),
        60,
    ),
    ((((6, 7, 8, 12), (18, 19), 20, 21), (29, 30), 31, 32), ((44, 45, 46, 47), (48,)), 49, 50),
)


def test_tree_equals_tree_of_authors_program():
    """Instances have 5, 1, 3, 2, 5, 1, ... new labels. The first group thus exceeds its limit."""
    instance = np.repeat(np.arange(22), np.resize([5, 1, 3, 2], 22))
    Y = np.eye(22, dtype=bool)[:, instance]
    model = oplt("best_greedy", 3, 4, alpha=1.0, growth="program").partial_fit(np.eye(22), Y)
    assert shape(model.tree_) == TREE_OF_NAPKINXC
