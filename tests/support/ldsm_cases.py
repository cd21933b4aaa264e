"""Make a node of LdSM, and train it."""

from __future__ import annotations

import numpy as np

from xmlc.models.ldsm._regressors import TreeSettings


# lambda_1 and lambda_2 are not whole numbers. With whole numbers, equal costs would be common, and
# rounding would decide.
def tree_settings(arity=2, adaptive=True, **options):
    values = {
        "epochs": 3,
        "learning_rate": 0.2,
        "lambda_1": 1.7,
        "lambda_2": 0.9,
        "random_ties": False,
    }
    values |= {"max_nodes": 31, "shuffled": False}
    return TreeSettings(
        **values
        | {"arity": arity, "adaptive": adaptive, "uniform_start": False, "prune": False}
        | options
    )


def node_of(multilabel, seed=1, n=40, d=9, m=6):
    X, Y = multilabel(n, d, m, seed=seed)
    return X, Y, np.array([3, 0, *range(7, n, 2)], dtype=np.uint32)
