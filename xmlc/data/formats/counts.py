"""How many rows and columns a file may claim, so that a few bytes cannot ask for all memory."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from xmlc.data.compressed import most_plain_bytes
from xmlc.data.formats.stream import check_file

LARGEST = int(np.iinfo(np.int32).max)
FREE_COLUMNS = 1 << 26  # features or labels that any file may have, of hashed features, say, though it be short
COLUMN_BYTES = 16  # what a column costs at least where it is counted and pointed to, without a single entry


def most_columns(path: Path) -> int:
    """Return how many features or labels are believed of a file; see `most_counts`."""
    check_file(path)
    return most_counts(path)[1]


def most_counts(path: Path) -> tuple[int, int]:
    """Return how many rows a readable file can hold, and how many features or labels are believed of it.

    A row has a byte at least. Of columns a fair number may be empty, but arrays over them must fit the memory of this
    machine.
    """
    size = most_plain_bytes(path)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(LARGEST, size), min(LARGEST, max(FREE_COLUMNS, size), memory // COLUMN_BYTES)
