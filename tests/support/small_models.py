"""Make the smallest form of each xmlc estimator by name."""

from xmlc.models.registry import LEARNERS, make_estimator

OURS = [*LEARNERS]
SMALL = {
    "plt": {"epochs": 2},
    "parabel": {"n_trees": 1},
    "fastxml": {"n_trees": 2, "alpha": 0.8},
    "ldsm": {"n_trees": 2, "beta": 0.5},
    "br": {"C": 1.0},
    "pcc": {"C": 1.0, "n_samples": 5},
    "swnn": {"S": 5},
}


def small(name):
    return make_estimator(name, SMALL.get(name, {}), seed=0, n_jobs=1)
