"""Arrays of forests that are put one after the other."""

import numpy as np

from xmlc.models.forest_arrays import joined_starts, shifted_codes


def test_arrays_of_a_forest_behind_another_are_renumbered():
    assert shifted_codes(np.array([0, ~0, 2, ~3]), 5, 7).tolist() == [5, ~7, 7, ~10]
    assert joined_starts([np.array([0, 2, 3]), np.array([0]), np.array([0, 4])]).tolist() == [0, 2, 3, 7]
