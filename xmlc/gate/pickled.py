"""The gate for pickled estimators: arrays that joblib maps read-only, as maps that kernels take."""

from __future__ import annotations

from dataclasses import is_dataclass
from mmap import mmap
from typing import Any

import numpy as np


def writeable_maps(state: Any) -> Any:
    """Replace read-only maps of files in the state of an estimator by copy-on-write maps of the same bytes.

    ``joblib.load(file, mmap_mode="r")`` maps arrays read-only, and so do its workers. To numba these are another type:
    each kernel would be compiled again, and an estimator that goes on learning could not write. A change of a
    copy-on-write map stays in this process.

    Parameters
    ----------
    state : object
        Dictionaries, lists, tuples and NamedTuples are walked through, and dataclasses changed in place.

    Returns
    -------
    object
        The same, with other arrays.
    """
    if isinstance(state, np.memmap):
        return state if state.flags.writeable else _mapped_again(state)
    if isinstance(state, dict):
        return {name: writeable_maps(value) for name, value in state.items()}
    if isinstance(state, list):
        return [writeable_maps(value) for value in state]
    if isinstance(state, tuple):
        parts = [writeable_maps(value) for value in state]
        return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
    if is_dataclass(state) and not isinstance(state, type):
        vars(state).update(writeable_maps(vars(state)))  # it may be frozen
    return state


def _mapped_again(array: np.memmap) -> np.ndarray:
    """Return a copy-on-write map of what a map shows; a copy, if it shows a part of one only."""
    base: object = array.base  # the map itself, or an array of which this one is a part
    if not array.flags.c_contiguous or not isinstance(base, mmap):
        return np.array(array)
    mapped: np.ndarray = np.memmap(str(array.filename), array.dtype, "c", array.offset, array.shape)
    return mapped.view(np.ndarray)
