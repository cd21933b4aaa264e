"""Append rows to arrays in memory or on disk.

If the arrays are on disk, finished parts of a model take no memory.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy

from xmlc.core.errors import InvalidDataError

# Maximum number of extra bytes that are allocated for later parts, so that an array rarely moves in
# memory. The number of extra bytes is also limited to a quarter of the array.
MORE = 1 << 26

NOT_FINITE = (
    "found weights beyond single precision. Scale the features with "
    "sklearn.preprocessing.MaxAbsScaler, or use hyperparameters nearer to their defaults."
)


class NotFiniteError(InvalidDataError):
    """A learned weight is NaN or infinite."""


class Appendable:
    """Collect named arrays, to which rows can be appended.

    New parts are appended to each array along the first axis.

    Parameters
    ----------
    folder : Path or None
        Folder for the files ``<name>.npy``. With None, the arrays are in memory and grow in place.
        If an array has to move, the operating system moves its pages without a copy.
    ending : str
        Suffix of each file's name, for models with several arrays of the same name.
    """

    def __init__(self, folder: Path | None = None, ending: str = "") -> None:
        self._folder = folder
        self._ending = ending
        self._files: dict[str, BinaryIO] = {}
        # If ``folder`` is given, the arrays in this dict have no rows. The arrays without rows only
        # store the dtype and the lengths of all axes except the first.
        self._arrays: dict[str, np.ndarray] = {}
        self._sizes: dict[str, int] = {}

    def append(self, **blocks: np.ndarray) -> None:
        """Append one block to each of the named arrays.

        The first block of an array determines the array's dtype and the lengths of all axes except
        the first.

        Raises
        ------
        NotFiniteError
            Some weights are not finite (`check_finite`). Weights are checked as soon as they are
            appended, because the files are not read again.
        """
        check_finite(blocks.values())
        for name, block in blocks.items():
            if name not in self._arrays:
                self._arrays[name] = np.empty((0, *block.shape[1:]), dtype=block.dtype)
                self._sizes[name] = 0
                if self._folder is not None:
                    self._files[name] = open(self._folder / f"{name}{self._ending}.npy", "wb")
                    self._write_header(name)
            array = self._arrays[name]
            size = self._sizes[name] + block.shape[0]
            if block.shape[1:] != array.shape[1:] or block.dtype != array.dtype:
                expected = f"{array.dtype}{array.shape[1:]} as before"
                raise TypeError(
                    f"{name}: found {block.dtype}{block.shape[1:]}, expected {expected}"
                )
            if self._folder is not None:
                # `ndarray.tofile` is not used, because it does not report a full disk.
                self._files[name].write(np.ascontiguousarray(block).reshape(-1).view(np.uint8).data)
            else:
                if size > array.shape[0]:
                    more = min(size // 4, MORE // (array.itemsize * max(block[:1].size, 1)))
                    array.resize((size + more, *array.shape[1:]), refcheck=False)
                array[self._sizes[name] : size] = block
            self._sizes[name] = size

    def n_rows(self, name: str) -> int:
        """Return the number of rows of an array, 0 if nothing has been appended to it."""
        return self._sizes.get(name, 0)

    def finished(self) -> dict[str, np.ndarray]:
        """Return the arrays by name.

        Arrays in files are mapped copy-on-write. After a call of this method, `append` must not be
        called.
        """
        if self._folder is None:
            for name, array in self._arrays.items():
                array.resize((self._sizes[name], *array.shape[1:]), refcheck=False)
        for name, file in self._files.items():
            file.seek(0)
            self._write_header(name)
            file.close()
            # `np.memmap` is not used, because a pickled `np.memmap` contains a file name that may
            # become invalid.
            with open(file.name, "rb") as written:
                npy.read_magic(written)
                shape, _, dtype = npy.read_array_header_1_0(written)
                pages = mmap.mmap(written.fileno(), 0, access=mmap.ACCESS_COPY)
                self._arrays[name] = np.ndarray(shape, dtype, pages, written.tell())
        return self._arrays

    def _write_header(self, name: str) -> None:
        """Write the header of an array's file in the format of `numpy.save`.

        The header has spare space, so that it can be rewritten in place with a larger number of
        rows.
        """
        array = self._arrays[name]
        about = {"descr": npy.dtype_to_descr(array.dtype), "fortran_order": False}
        npy.write_array_header_1_0(
            self._files[name], about | {"shape": (self._sizes[name], *array.shape[1:])}
        )


def give_back(*arrays: np.ndarray) -> None:
    """Let the system drop the pages of memory-mapped arrays from memory.

    Dropped pages are read again when needed.

    If the memory maps are copy-on-write, changes of the arrays are lost. Arrays that are not mapped
    are not affected.
    """
    for array in arrays:
        base: object = array
        while isinstance(base, np.ndarray):
            base = base.base
        if isinstance(base, mmap.mmap) and array.size and hasattr(mmap, "MADV_DONTNEED"):
            start = array.ctypes.data - np.frombuffer(base, dtype=np.uint8).ctypes.data
            before = start % mmap.PAGESIZE
            base.madvise(mmap.MADV_DONTNEED, start - before, before + array.nbytes)


def check_finite(arrays: Iterable[np.ndarray]) -> None:
    """Raise a `NotFiniteError` if a learned weight is not finite.

    Only float32 arrays contain weights.
    """
    for array in arrays:  # If an array contains NaN, its minimum and maximum are NaN, too.
        if (
            array.dtype == np.float32
            and not np.isfinite([array.min(initial=0), array.max(initial=0)]).all()
        ):
            raise NotFiniteError(NOT_FINITE)
