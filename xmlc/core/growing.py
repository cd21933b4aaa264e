"""Arrays that grow at their end, in memory or in a folder: what is finished of a model need not be held in memory."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import BinaryIO

import numpy as np
from numpy.lib import format as npy

MORE = 1 << 26  # bytes beyond what is needed, or a quarter of it if that is less, so that few pieces move the array


HELD = 1 << 28  # bytes of mapped files that `read_in_parts` keeps in memory
LARGE = 1 << 24  # bytes: the pages of smaller arrays are never released
LOOK = 0.005  # seconds between two checks


class NotFiniteError(ArithmeticError):
    """Weights are NaN or infinite."""


class Growing:
    """Arrays by name, to each of which pieces are appended along the first axis.

    Parameters
    ----------
    folder : Path or None
        Where they are written as ``<name>.npy``; None keeps them in memory. There an array grows in place, so that the
        system moves its pages and it need not fit twice.
    ending : str
        Stands behind each name of a file, for arrays of which a model has several.
    """

    def __init__(self, folder: Path | None = None, ending: str = "") -> None:
        self._folder, self._ending = folder, ending
        self._files: dict[str, BinaryIO] = {}
        self._arrays: dict[str, np.ndarray] = {}  # in a folder: empty, for their types and shapes
        self._sizes: dict[str, int] = {}

    def append(self, **pieces: np.ndarray) -> None:
        """Append a piece to each of some arrays; the first one of a name decides its dtype and further axes.

        Raises
        ------
        NotFiniteError
            A piece of weights is not finite (`check_finite`): what is written is not read again for it.
        """
        check_finite(pieces.values())
        for name, piece in pieces.items():
            if name not in self._arrays:
                self._arrays[name], self._sizes[name] = np.empty((0, *piece.shape[1:]), dtype=piece.dtype), 0
                if self._folder is not None:
                    self._files[name] = open(self._folder / f"{name}{self._ending}.npy", "wb")
                    self._write_header(name)
            array, size = self._arrays[name], self._sizes[name] + piece.shape[0]
            if piece.shape[1:] != array.shape[1:] or piece.dtype != array.dtype:
                raise TypeError(f"{name}: {piece.dtype}{piece.shape[1:]} behind {array.dtype}{array.shape[1:]}")
            if self._folder is not None:
                # Not by `tofile`, which says nothing of a full disk.
                self._files[name].write(np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data)
            else:
                if size > array.shape[0]:
                    more = min(size // 4, MORE // (array.itemsize * max(piece[:1].size, 1)))
                    array.resize((size + more, *array.shape[1:]), refcheck=False)
                array[self._sizes[name] : size] = piece
            self._sizes[name] = size

    def finished(self) -> dict[str, np.ndarray]:
        """Return the arrays, in a folder as copy-on-write maps of their files; nothing may be appended any more."""
        if self._folder is None:
            for name, array in self._arrays.items():
                array.resize((self._sizes[name], *array.shape[1:]), refcheck=False)
            return self._arrays
        for name, file in self._files.items():
            file.seek(0)
            self._write_header(name)
            file.close()
        return {name: self._mapped(name) for name in self._files}

    def _mapped(self, name: str) -> np.ndarray:
        """Map a finished file; not as `np.memmap`, which pickles by a name that its folder will not keep."""
        with open(self._files[name].name, "rb") as file:
            npy.read_magic(file)
            shape, _, dtype = npy.read_array_header_1_0(file)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            return np.ndarray(shape, dtype, mapped, file.tell())

    def _write_header(self, name: str) -> None:
        """Write a header as of `numpy.save`, which leaves room for a larger first number: it can be written again."""
        array = self._arrays[name]
        about = {"descr": npy.dtype_to_descr(array.dtype), "fortran_order": False}
        npy.write_array_header_1_0(self._files[name], about | {"shape": (self._sizes[name], *array.shape[1:])})


def give_back(*arrays: np.ndarray) -> None:
    """Let the system drop the pages of mapped files that arrays lie in: they are read again when they are asked for.

    What was changed there of a copy-on-write map is lost. Other arrays stay as they are.
    """
    for array in arrays:
        base: object = array
        while isinstance(base, np.ndarray):
            base = base.base
        if isinstance(base, mmap.mmap) and array.size and hasattr(mmap, "MADV_DONTNEED"):
            start = address(array) - address(np.frombuffer(base, dtype=np.uint8))
            start, end = start // mmap.PAGESIZE * mmap.PAGESIZE, start + array.nbytes
            base.madvise(mmap.MADV_DONTNEED, start, end - start)


@contextmanager
def read_in_parts(arrays: Iterable[np.ndarray]) -> Iterator[None]:
    """Release the pages of mapped arrays repeatedly while a block reads them, so that few are in memory.

    The block must not change the arrays. It should read each part of them many times before it goes on to the next: a
    fault may map 2 MB, so that random reads map gigabytes between two checks. If the system does not count the pages of
    files, none are released.
    """
    large = [array for array in arrays if array.nbytes > LARGE]
    most, done = file_bytes() + HELD, Event()

    def watch() -> None:
        while large and not done.wait(LOOK):
            if file_bytes() > most:
                give_back(*large)

    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def file_bytes() -> int:
    """Return the bytes of mapped files that this process has in memory; 0 if the system does not count them."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[2]) * mmap.PAGESIZE
    except OSError:
        return 0


def address(array: np.ndarray) -> int:
    """Return where an array begins in memory."""
    return int(array.__array_interface__["data"][0])


def check_finite(arrays: Iterable[np.ndarray]) -> None:
    """Raise a `NotFiniteError` if weights are not finite: they, and nothing that may be NaN, are float32."""
    for array in arrays:  # NaN is the least and the largest where there is any
        if array.dtype == np.float32 and not np.isfinite([array.min(initial=0), array.max(initial=0)]).all():
            raise NotFiniteError
