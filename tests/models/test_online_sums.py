"""The sums of OFO of one instance beside sets."""

import numpy as np
import pytest

from xmlc.models._online_sums import count_sets


@pytest.mark.parametrize("types", [(np.uint32, np.int32), (np.int64, np.int32)])
@pytest.mark.parametrize(
    ("labels", "predicted"), [([], []), ([2], []), ([], [1]), ([0, 3], [3, 1]), ([4, 1], [1, 4, 0])]
)
def test_sums_are_those_of_sets(labels, predicted, types):
    hits, sizes = np.arange(5, dtype=float), np.full(5, 7.0)
    count_sets(np.array(labels, types[0]), np.array(predicted, types[1]), hits, sizes)
    true, chosen = ([label in those for label in range(5)] for those in (labels, predicted))
    np.testing.assert_array_equal(hits, np.arange(5) + np.logical_and(true, chosen))
    np.testing.assert_array_equal(sizes, 7.0 + np.array(true, int) + np.array(chosen, int))
