"""Arrays that grow by rows, in memory or on disk, where finished parts take no memory."""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy

from xmlc.core.errors import InvalidDataError

# Bytes that are allocated in advance, at most a quarter of the array, so that it rarely moves
MORE = 1 << 26

NOT_FINITE = (
    "found weights beyond single precision. Scale the features with "
    "sklearn.preprocessing.MaxAbsScaler, or use hyperparameters nearer to their defaults."
)


class NotFiniteError(InvalidDataError):
    """A learned weight is NaN or infinite."""


class Appendable:
    """Named arrays that grow by rows, in memory or in files ``<name><ending>.npy``.

    In memory, the system moves an array page by page, without a copy.
    """

    def __init__(self, folder: Path | None = None, ending: str = "") -> None:
        self._folder = folder
        self._ending = ending
        self._files: dict[str, BinaryIO] = {}
        # With ``folder``, these have no rows, only the dtype and the lengths of the other axes
        self._arrays: dict[str, np.ndarray] = {}
        self._sizes: dict[str, int] = {}

    def append(self, **blocks: np.ndarray) -> None:
        """Append a block to each of the named arrays. The first one determines dtype and width.

        A weight that is not finite raises a `NotFiniteError` at once, because files are not read
        again.
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
                # `ndarray.tofile` does not report a full disk
                self._files[name].write(np.ascontiguousarray(block).reshape(-1).view(np.uint8).data)
            else:
                if size > array.shape[0]:
                    more = min(size // 4, MORE // (array.itemsize * max(block[:1].size, 1)))
                    array.resize((size + more, *array.shape[1:]), refcheck=False)
                array[self._sizes[name] : size] = block
            self._sizes[name] = size

    def n_rows(self, name: str) -> int:
        """Return the number of rows, 0 for an unknown array."""
        return self._sizes.get(name, 0)

    def finished(self) -> dict[str, np.ndarray]:
        """Return the arrays by name, those in files mapped copy-on-write, and end all appending."""
        if self._folder is None:
            for name, array in self._arrays.items():
                array.resize((self._sizes[name], *array.shape[1:]), refcheck=False)
        for name, file in self._files.items():
            file.seek(0)
            self._write_header(name)
            file.close()
            # A pickled `np.memmap` would contain a file name that may become invalid
            with open(file.name, "rb") as written:
                npy.read_magic(written)
                shape, _, dtype = npy.read_array_header_1_0(written)
                pages = mmap.mmap(written.fileno(), 0, access=mmap.ACCESS_COPY)
                self._arrays[name] = np.ndarray(shape, dtype, pages, written.tell())
        return self._arrays

    def _write_header(self, name: str) -> None:
        """Write the header of a ``.npy`` file, with spare space for a larger number of rows."""
        array = self._arrays[name]
        about = {"descr": npy.dtype_to_descr(array.dtype), "fortran_order": False}
        npy.write_array_header_1_0(
            self._files[name], about | {"shape": (self._sizes[name], *array.shape[1:])}
        )


def give_back(*arrays: np.ndarray) -> None:
    """Let the system drop the pages of memory-mapped arrays, which it reads again when needed.

    Changes of copy-on-write maps are lost.
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
    """Raise a `NotFiniteError` if a weight, a float32, is not finite."""
    for array in arrays:  # the minimum and maximum of an array with NaN are NaN
        if (
            array.dtype == np.float32
            and not np.isfinite([array.min(initial=0), array.max(initial=0)]).all()
        ):
            raise NotFiniteError(NOT_FINITE)
