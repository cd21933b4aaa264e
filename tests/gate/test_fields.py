"""Single arrays are proven, or named with their first wrong entry."""

import numpy as np
import pytest

from xmlc.gate.fields import Malformed, check_array, check_below, check_indices, check_starts


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3, dtype=np.int64), r"a: found int64 of shape \(3,\), expected int32 of shape \(any\)"),
        (np.zeros((3, 1), dtype=np.int32), "expected int32"),
        (np.zeros(6, dtype=np.int32)[::2], "do not lie one after the other"),
    ],
)
def test_type_and_shape(array, message):
    with pytest.raises(Malformed, match=message):
        check_array(array, "a", np.int32, (None,))


def test_an_array_of_a_file_is_given_as_numpys_own_class(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3, dtype=np.int32))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="c")
    assert type(check_array(mapped, "a", np.int32, (3,))) is np.ndarray


@pytest.mark.parametrize(
    ("starts", "message"),
    [
        ([], "begins with"),
        ([1, 4], "begins with"),
        ([0, 3, 2, 4], "entry 2 is 2, less than the one before it, 3"),
        ([0, 3], "ends with 3, expected 4, the size of b"),
    ],
)
def test_starts(starts, message):
    with pytest.raises(Malformed, match=message):
        check_starts(np.array(starts, dtype=np.int64), "a", 4, "b")
    check_starts(np.array([0, 0, 4, 4]), "a", 4, "b")


def test_numbers_below_a_limit():
    check_below(np.array([[0, 4]]), "a", 5)
    check_below(np.empty(0, dtype=np.int32), "a", 0)
    with pytest.raises(Malformed, match=r"a: entry 1 is 5, expected 0 .. 4"):
        check_below(np.array([[0, 5]]), "a", 5)
    with pytest.raises(Malformed, match=r"entry 0 is -4, expected -3 .. 4"):
        check_below(np.array([-4]), "a", 5, least=-3)


def test_indices_ascend_within_their_parts_only():
    starts = np.array([0, 2, 2, 3])
    assert check_indices(np.array([1, 4, 0], dtype=np.int32), "a", 5, starts)
    assert not check_indices(np.array([1, 1, 0], dtype=np.int32), "a", 5, starts, strict=False)
    with pytest.raises(Malformed, match="do not ascend, 1 times"):
        check_indices(np.array([4, 1, 0], dtype=np.int32), "a", 5, starts)
    for wrong in (5, -1, 2_000_000_000):
        with pytest.raises(Malformed, match=f"entry 1 is {wrong}, expected 0 .. 4"):
            check_indices(np.array([1, wrong, 0], dtype=np.int32), "a", 5, starts, strict=False)
