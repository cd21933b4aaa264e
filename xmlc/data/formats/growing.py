"""An array that grows while a file is read, without a second copy of everything at the end."""

from __future__ import annotations

import numpy as np

# From this size on the C library gives freed memory back to the system; pages that are not touched cost nothing.
CHUNK_BYTES = 1 << 25


class GrowingArray:
    """Collects values in chunks and joins them once.

    Parameters
    ----------
    dtype : type
    chunk_bytes : int
        Memory reserved at a time.
    """

    def __init__(self, dtype: type, chunk_bytes: int = CHUNK_BYTES):
        self._dtype = np.dtype(dtype)
        self._chunk_size = chunk_bytes // self._dtype.itemsize
        self._chunks: list[np.ndarray] = []
        self._used = self._chunk_size  # of the last chunk

    @property
    def size(self) -> int:
        """Number of values so far."""
        return (len(self._chunks) - 1) * self._chunk_size + self._used

    def extend(self, values: np.ndarray) -> None:
        """Add values, shape (k,); they are copied."""
        done = 0
        while done < values.size:
            if self._used == self._chunk_size:
                self._chunks.append(np.empty(self._chunk_size, dtype=self._dtype))
                self._used = 0
            step = min(values.size - done, self._chunk_size - self._used)
            self._chunks[-1][self._used : self._used + step] = values[done : done + step]
            self._used += step
            done += step

    def take(self) -> np.ndarray:
        """Return everything as one array and give the chunks up one by one; the collection is empty afterwards."""
        whole = np.empty(self.size, dtype=self._dtype)
        end = whole.size
        while self._chunks:
            chunk = self._chunks.pop()
            whole[end - self._used : end] = chunk[: self._used]
            end -= self._used
            self._used = self._chunk_size
        return whole
