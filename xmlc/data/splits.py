"""The seeded split of a training set into a part to fit and a part to validate on."""

from __future__ import annotations

import numpy as np

from xmlc.errors import XmlcError
from xmlc.kernels.counter_random import random_permutation
from xmlc.kernels.streams import Stream


def fit_mask(n_rows: int, validation_share: float, seed: int) -> np.ndarray:
    """Choose the rows that are fitted; the others validate.

    The validation part has ``round(validation_share * n_rows)`` rows, but each part has at least one where there are
    two rows. The choice depends on (seed, n_rows) alone, on every platform.

    Returns
    -------
    ndarray of bool, shape (n_rows,)
        True for the rows to fit.
    """
    if not 0 < validation_share < 1:
        raise XmlcError(f"validation share {validation_share}: expected a number between 0 and 1")
    n_validation = round(validation_share * n_rows)
    if n_rows >= 2:
        n_validation = min(max(n_validation, 1), n_rows - 1)
    mask = np.ones(n_rows, dtype=bool)
    mask[random_permutation(n_rows, seed, Stream.SPLIT)[:n_validation]] = False
    return mask


def sample_rows(rows: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Draw at most so many of some rows; all of them where there are no more.

    Parameters
    ----------
    rows : ndarray of int64
    most : int
    seed : int
        The choice depends on (seed, number of rows, most) alone, and a smaller one is part of a larger one.

    Returns
    -------
    ndarray of int64
        In the order of ``rows``.
    """
    chosen = random_permutation(rows.size, seed, Stream.SEARCH_SAMPLE)[:most]
    return rows[np.sort(chosen)]
