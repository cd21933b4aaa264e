"""Sums of the largest entries of a column, compared with plain implementations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.inference.gfm import sum_of_largest, upper_bound

FEW = settings(deadline=None, max_examples=100, derandomize=True)
NEARLY_SORTED = st.lists(st.floats(0, 1), min_size=1, max_size=70).map(
    lambda values: sorted(values[:-4], reverse=True) + values[-4:]
)
WITH_TIES = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.3, 1.0, 2.0]), min_size=1, max_size=30)


def sum_by_swaps(values, k):
    """Partition by swaps around the k-th value until the k largest come first.

    Return the sum of these k values in this order.
    """
    low = 0
    high = len(values)
    while k < high:
        pivot = values[k - 1]
        greater = low
        for i in range(low, high):
            values[i], values[greater] = values[greater], values[i]
            greater += values[greater] > pivot
        if k <= greater:
            high = greater
            continue
        low = greater
        for i in range(greater, high):
            values[i], values[low] = values[low], values[i]
            low += values[low] == pivot
        if k <= low:
            break
    total = 0.0
    for value in values[:k]:
        total += value
    return total


@FEW
@given(values=NEARLY_SORTED | WITH_TIES, data=st.data())
def test_sum_of_largest_is_bit_identical_to_partition_by_swaps(values, data):
    """The order matters, because the sum's last bit affects the expected F-measure."""
    k = data.draw(st.integers(1, len(values)))
    found = sum_of_largest(np.array(values), k)
    assert found == pytest.approx(sum(sorted(values)[::-1][:k]))
    assert found == sum_by_swaps(values, k)


@FEW
@given(values=NEARLY_SORTED | WITH_TIES, data=st.data())
def test_upper_bound_is_not_below_the_sum_of_the_largest(values, data):
    k = data.draw(st.integers(1, len(values)))
    least = values[k - 1]
    bound = upper_bound(np.array(values), k)
    assert bound == pytest.approx(k * least + sum(max(value - least, 0) for value in values))
    assert bound >= sum(sorted(values)[::-1][:k]) - 1e-12
