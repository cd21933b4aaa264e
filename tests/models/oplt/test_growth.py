"""The trees of the authors' program, and a tree without a limit of children."""

import numpy as np
from oplt_cases import oplt, shape

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
