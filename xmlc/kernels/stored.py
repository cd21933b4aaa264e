"""Arrays and their descriptions on disk, with errors that name a damaged file.

Checksums detect accidental changes, and an estimator's list of `Field` objects detects models that
another version of xmlc stored.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from mmap import mmap
from pathlib import Path
from typing import Annotated, Any, Literal, get_origin, get_type_hints

import numpy as np

from xmlc.core.appendable import give_back
from xmlc.core.checksums import verify_file
from xmlc.core.errors import let_through
from xmlc.kernels.indices import Malformed, check_array, check_ascending, check_starts, check_within

#: Bounds of fields whose numbers only have to be finite
FINITE = (-float(np.finfo(np.float64).max), float(np.finfo(np.float64).max))

#: Names of JSON types in messages
KINDS = {
    bool: "true or false",
    int: "a whole number",
    str: "a text",
    list: "a list",
    dict: "an object",
}


def load_array(
    path: Path, dtype: Any = None, shape: Sequence[int | None] | None = None, mmap: bool = True
) -> Any:
    """Read a ``.npy`` file, by default as a copy-on-write memory map.

    A file that is missing or changed raises `Damaged`. One that is not complete, or has not the
    expected dtype and shape (see `check_array`), raises `Malformed`.
    """
    verify_file(path)
    mode: Literal["c"] | None = None
    if mmap:
        mode = "c"
    try:
        array = np.load(path, mmap_mode=mode, allow_pickle=False)
    except Exception as error:  # a damaged header makes NumPy raise nine types of errors
        let_through(error)
        raise Malformed(str(path), f"found no complete NumPy array ({error})") from None
    if dtype is not None and shape is not None:
        check_array(array, str(path), dtype, shape)
    return array


def load_description(path: Path, types: dict[str, type]) -> dict[str, Any]:
    """Read a JSON file that describes arrays next to it, and check the types of its entries.

    A file that is missing or changed raises `Damaged`, and other faults raise `Malformed`.
    """
    verify_file(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        let_through(error)
        raise Malformed(str(path), f"found no valid JSON ({error})") from None
    if not isinstance(content, dict):
        content = {}
    for name, kind in types.items():
        found = content.get(name)
        if not isinstance(found, kind) or isinstance(found, bool) != (kind is bool):
            raise Malformed(
                str(path), f"found {name}={found!r}, expected {KINDS.get(kind, kind.__name__)}"
            )
    return content


@dataclass(frozen=True)
class Field:
    """An array of a stored model, with the values that it may have.

    Attributes
    ----------
    name : str
    dtype : dtype or None
        None means any dtype.
    shape : tuple of int, str or None
        None means any length. A text such as "nodes + 1" or "2 * nodes" contains the name of a
        size, whose value the first array with this name determines.
    least : int
        Lower bound of the numbers, checked if ``below`` is given.
    below : int, str or None
        A number, or the name of a size, that all numbers must be less than.
    starts : str or None
        The size of another array, if this array has the start positions of its parts. They begin
        with 0, never decrease, and end with that size.
    ascending : str or None
        The array with the start positions of this array's parts, if numbers ascend strictly in
        each.
    within : tuple of two float, or None
        Smallest and largest allowed number. `FINITE` allows all finite numbers.
    optional : bool
        Whether the array may be missing.
    """

    name: str
    dtype: Any
    shape: tuple[int | str | None, ...] = ()
    least: int = 0
    below: int | str | None = None
    starts: str | None = None
    ascending: str | None = None
    within: tuple[float, float] | None = None
    optional: bool = False


def fields_of(record: type) -> tuple[Field, ...]:
    """Return the `Field` of each array of a named tuple, from ``Annotated[ndarray, Field]``."""
    hints = get_type_hints(record, include_extras=True).values()
    return tuple(hint.__metadata__[0] for hint in hints if get_origin(hint) is Annotated)


SIZE = re.compile(r"(?:(\d+) \* )?(\w+)(?: \+ (\d+))?")


def check_fields(arrays: Mapping[str, np.ndarray], fields: Iterable[Field], **sizes: int) -> None:
    """Raise `Malformed` if an array of a stored model is missing, unexpected or unlike its field.

    ``fields`` are all arrays that the model may contain, and ``sizes`` are known sizes by name,
    such as ``n_features``.
    """
    expected = {field.name: field for field in fields}
    for name in sorted(set(arrays) ^ set(expected)):
        if name in arrays:
            raise Malformed(name, "found an array that is not part of this model")
        if not expected[name].optional:
            raise Malformed(name, "found no such array")
    for name, array in arrays.items():
        field = expected[name]
        shape: list[Any] = [*field.shape]
        for axis, (size, found) in enumerate(zip(shape, (*array.shape, 0, 0, 0))):
            if isinstance(size, str):
                shape[axis] = length(size, found, sizes)
        check_array(array, name, field.dtype or array.dtype, shape)
    for name, array in arrays.items():
        field = expected[name]
        if field.below is not None:
            below = field.below
            if isinstance(below, str):
                below = sizes[below]
            check_within(array, name, field.least, below - 1, after=give_back)
        if field.starts is not None:
            check_starts(array, name, sizes[field.starts], field.starts)
        if field.within is not None:
            check_within(array, name, *field.within, after=give_back)
    # Only now are the start positions known to be right
    for name, array in arrays.items():
        starts = expected[name].ascending
        if starts is not None:
            check_ascending(array, name, arrays[starts], after=give_back)


def length(size: str, found: int, sizes: dict[str, int]) -> int:
    """Return the value of an expression such as "nodes + 1", which contains the name of a size.

    A name that ``sizes`` lacks is added with the value for which the expression equals ``found``.
    """
    parts = SIZE.fullmatch(size)
    assert parts is not None, size
    times = int(parts[1] or 1)
    name = parts[2]
    more = int(parts[3] or 0)
    return times * sizes.setdefault(name, (found - more) // times) + more


def writeable_maps(state: Any) -> Any:
    """Return the state of an estimator with copy-on-write maps of files instead of read-only ones.

    ``joblib.load(file, mmap_mode="r")`` and joblib's workers map arrays read-only. For numba these
    have another type, so each kernel would be compiled again, and training, which writes to the
    arrays, could not continue. Changes of a copy-on-write map never reach the file.

    Dictionaries, lists, tuples and dataclasses are searched, and dataclasses with maps are changed
    in place. Parts without read-only maps remain the same objects, because a copied estimator
    shares them with the original, which other threads may be using.
    """
    if isinstance(state, np.memmap) and not state.flags.writeable:
        base: object = state.base
        # Slices of a map are copied
        if not state.flags.c_contiguous or not isinstance(base, mmap):
            return np.array(state)
        return np.asarray(
            np.memmap(str(state.filename), state.dtype, "c", state.offset, state.shape)
        )
    if isinstance(state, dict):
        parts = {name: writeable_maps(part) for name, part in state.copy().items()}
        if any(part is not state.get(name) for name, part in parts.items()):
            return state | parts
    elif isinstance(state, list | tuple):
        changed = [writeable_maps(part) for part in state]
        if all(map(operator.is_, changed, state)):
            return state
        if hasattr(state, "_fields"):
            return type(state)(*changed)
        return type(state)(changed)
    elif is_dataclass(state) and not isinstance(state, type):
        # `setattr` fails if the dataclass is frozen
        vars(state).update(writeable_maps(vars(state)))
    return state


def is_json(value: object) -> bool:
    """Return whether JSON can store a value without changing it."""
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError, RecursionError):
        return False
