"""The gate for files: arrays and descriptions as a step of the workflow wrote them, or an error that names the file."""

from __future__ import annotations

import json
import tokenize
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from xmlc.checksums import check_file
from xmlc.errors import let_through
from xmlc.gate.fields import Malformed, check_array

# What numpy raises over a header that is no header, or describes more than the file holds.
NO_ARRAY = (
    ValueError,
    EOFError,
    OSError,
    SyntaxError,
    TypeError,
    KeyError,
    OverflowError,
    MemoryError,
    tokenize.TokenError,
)


def load_array(path: Path, dtype: Any = None, shape: Sequence[int | None] | None = None, mmap: bool = True) -> Any:
    """Read a ``.npy`` file, memory-mapped copy-on-write by default.

    Parameters
    ----------
    path : Path
    dtype : dtype, optional
        What it must hold.
    shape : sequence of int or None, optional
        What its shape must be; see `check_array`.
    mmap : bool

    Returns
    -------
    ndarray, or numpy's memmap

    Raises
    ------
    Damaged
        The file is missing, or was changed since it was written.
    Malformed
        It is no whole ``.npy`` file, or holds something else.
    """
    check_file(path)
    mode: Literal["c"] | None = "c" if mmap else None
    try:
        array = np.load(path, mmap_mode=mode, allow_pickle=False)
    except NO_ARRAY as error:
        let_through(error)
        raise Malformed(str(path), f"no whole array of numpy ({error})") from None
    if dtype is not None and shape is not None:
        check_array(array, str(path), dtype, shape)
    return array


def load_description(path: Path, types: dict[str, type]) -> dict[str, Any]:
    """Read a JSON file that describes arrays beside it, and prove that it has these entries.

    Raises
    ------
    Damaged
        It is missing, or was changed since it was written.
    Malformed
        It is no JSON, or an entry is missing or of another type.
    """
    check_file(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        let_through(error)
        raise Malformed(str(path), f"no JSON ({error})") from None
    for name, kind in types.items():
        found = content.get(name) if isinstance(content, dict) else None
        if not isinstance(found, kind) or isinstance(found, bool) != (kind is bool):
            raise Malformed(str(path), f"{name} is {found!r}, expected {kind.__name__}")
    return dict(content)
