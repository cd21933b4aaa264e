"""How long tuning thresholds takes: a method tries values of a grid, and then searches the model with the best."""

from __future__ import annotations

GRID = 12  # values of most methods; a test compares them with the methods' own
PAIRS = {"ofo-ab": 132}  # pairs of values
WITHOUT_GRID = ("for-micro-", "for-instance-")
# Methods that give each label a threshold of its own, which is small for many; others cut all labels at about the same.
LABEL_WISE = ("sto", "for-macro-", "for-micro-f-labelwise", "fta-labelwise")

METHOD = 0.029  # seconds of reading the data and writing two records
READ, READ_OF_LABEL = (
    1e-8,
    1e-6,
)  # of an estimate, and of a label: into columns, and the measures of the last prediction
TRIED, SCORED = 5e-9, 1e-7  # of an estimate, and of a label, for each value


def values_of(method: str) -> int:
    """Return how many values of its grid a method tries; one of an extension, as many as most."""
    if method.startswith(WITHOUT_GRID):
        return 1
    return PAIRS.get(method, GRID)


def is_label_wise(method: str) -> bool:
    """Return whether a method gives each label a threshold of its own."""
    return method.startswith(LABEL_WISE)


def tuning_seconds(method: str, estimates: float, m: float) -> float:
    """Return the seconds of tuning a method and scoring its label sets, without the search of the model.

    Parameters
    ----------
    method : str
    estimates : float
        Of validation and test set.
    m : float
        Labels.
    """
    fixed = METHOD + READ * estimates + READ_OF_LABEL * m
    return fixed + values_of(method) * (TRIED * estimates + SCORED * m)
