"""Arrays that joblib maps read-only become copy-on-write maps of the same bytes."""

from dataclasses import dataclass
from typing import NamedTuple

import joblib
import numpy as np

from xmlc.kernels.stored import writeable_maps


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


@dataclass(frozen=True)
class Frozen:
    array: np.ndarray


def test_maps_become_writeable_and_files_stay_unchanged(tmp_path):
    numbers = np.arange(10.0)
    by_column = np.asfortranarray(np.arange(6).reshape(2, 3))
    state = {"pair": Pair(numbers, by_column), "list": [Frozen(numbers + 1)], "tuple": (3, "x")}
    joblib.dump(state, tmp_path / "state")
    content = (tmp_path / "state").read_bytes()
    mapped = joblib.load(tmp_path / "state", mmap_mode="r")
    assert not mapped["pair"].first.flags.writeable
    found = writeable_maps(mapped)
    assert isinstance(found["pair"], Pair)
    arrays = [*found["pair"], found["list"][0].array]
    for array, expected in zip(arrays, (numbers, by_column, numbers + 1), strict=True):
        np.testing.assert_array_equal(array, expected)
        assert type(array) is np.ndarray
        array[...] = 7
    assert isinstance(found["pair"].first.base, np.memmap)  # The array is a map, not a copy.
    assert found["tuple"] == (3, "x")
    assert (tmp_path / "state").read_bytes() == content


def test_part_of_map_is_copied_and_other_state_is_the_same_object(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(10))
    part = np.load(tmp_path / "a.npy", mmap_mode="r")[3:]
    np.testing.assert_array_equal(writeable_maps(part), np.arange(3, 10))
    state = [Pair(np.arange(3), np.load(tmp_path / "a.npy", mmap_mode="c")), ()]
    assert writeable_maps(state) is state
