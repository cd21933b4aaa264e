"""Lines of plain or compressed text files: blocks of them, numbers in them, and malformed ones."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.data.archives import Unreadable, is_compressed, open_plain
from xmlc.data.formats._numbers import LARGEST_FLOAT32

BLOCK_BYTES = 1 << 22
LONGEST_LINE = 1 << 28  # an instance with ten million features; anything longer is no text of lines
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LISTED = 20
DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
WHOLE = re.compile(r"\d{1,18}", re.ASCII)  # beyond that no id, and more than 64 bits
LARGEST = int(np.iinfo(np.int32).max)
FREE_COLUMNS = 1 << 26  # features or labels that any file may have, of hashed features, say, though it be short
COLUMN_BYTES = 16  # what a column costs at least where it is counted and pointed to, without a single entry
EXPANSION = 100  # text of multi-label data expands 3 to 20 times


def check_file(path: Path) -> None:
    """Refuse a file that cannot be read.

    Raises
    ------
    XmlcError
        There is no such file, it cannot be read, or it is a web page.
    """
    if not path.is_file():
        raise XmlcError(f"{path}: no such file")
    try:
        with open(path, "rb") as file:
            head = file.read(512)
    except OSError as error:
        raise XmlcError(f"{path}: cannot be read ({error.strerror})") from error
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        raise XmlcError(f"{path}: found an HTML page, expected data; download the file anew")


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, decompressing by its first bytes rather than by its name; see `check_file`."""
    check_file(path)
    return open_plain(path)


def line_blocks(path: Path, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Give a file's content in blocks that end with a newline; a missing last newline is added.

    Raises
    ------
    XmlcError
        The file cannot be opened, a compressed file is damaged or ends too early, or a line has no end.
    """
    rest: list[bytes] = []
    with open_bytes(path) as file:
        first = _read(file, path, block_bytes).removeprefix(BYTE_ORDER_MARK)
        while block := first or _read(file, path, block_bytes):
            first = b""
            cut = block.rfind(b"\n") + 1
            if cut:
                yield b"".join([*rest, block[:cut]])
                rest = []
            rest.append(block[cut:])
            if len(rest) * block_bytes > LONGEST_LINE:
                raise XmlcError(
                    f"{path}: found a line of more than {LONGEST_LINE >> 20} MB, expected a text of lines; "
                    "is it the right file?"
                )
    if last := b"".join(rest):
        yield last + b"\n"


def read_bytes(path: Path) -> bytes:
    """Return the whole content of a small file."""
    with open_bytes(path) as file:
        return _read(file, path, -1)


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Give the lines of a text file with their numbers, from 1, without line ends."""
    number = 0
    for block in line_blocks(path):
        for line in io.BytesIO(block):
            number += 1
            # Bytes that are no UTF-8 stay apart from each other: names must.
            yield number, line.decode("utf-8", errors="backslashreplace").rstrip("\r\n")


def first_line(path: Path) -> str:
    """Return the first line of a text file; empty for an empty file."""
    return next((line for _, line in text_lines(path)), "")


def _read(file: BinaryIO, path: Path, size: int) -> bytes:
    try:
        return file.read(size)
    except Unreadable as error:
        raise XmlcError(f"{path}: {error}") from error
    except OSError as error:
        raise XmlcError(f"{path}: cannot be read ({error.strerror})") from error


class LineError(ValueError):
    """A malformed line: the text found, as shown in messages, and the text expected."""

    def __init__(self, found: str, expected: str):
        super().__init__(f"found {found}, expected {expected}")
        self.found, self.expected = found, expected


class MalformedLines:
    """Collects the malformed lines of a file for one error.

    Parameters
    ----------
    path : Path
        The file, for the messages.
    """

    def __init__(self, path: Path):
        self.path = path
        self.count = 0
        self.messages: list[str] = []
        self.hint = ""

    def add(self, line: int, found: str, expected: str) -> None:
        """Note one malformed line by its number, from 1."""
        self.count += 1
        if len(self.messages) < LISTED:
            self.messages.append(f"{self.path}:{line}: found {found}, expected {expected}")

    def add_unlisted(self, count: int) -> None:
        """Count malformed lines without listing them."""
        self.count += count

    def raise_any(self) -> None:
        """Raise one error for all lines noted, if there are any."""
        if self.count:
            more = self.count - len(self.messages)
            tail = f"\n... and {more} more malformed lines" if more else ""
            head = "1 malformed line" if self.count == 1 else f"{self.count} malformed lines"
            raise XmlcError(f"{self.path}: {head}; nothing was read\n" + "\n".join(self.messages) + tail + self.hint)


def quoted(text: str) -> str:
    """Quote text of a file for a message: on one line, not too long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def decimal(text: str) -> float:
    """Return the value of a decimal number, as the row kernels read it: no ``1_000``, no ``nan``, no ``0x1p3``.

    Raises
    ------
    LineError
        It is no decimal number, or infinite in single precision.
    """
    if not DECIMAL.fullmatch(text) or abs(value := float(text)) >= LARGEST_FLOAT32:
        raise LineError(quoted(text), "a decimal number that fits single precision")
    return value


def whole(text: str) -> int:
    """Return the value of an unsigned whole number of ASCII digits, or raise `LineError`."""
    if not WHOLE.fullmatch(text):
        raise LineError(quoted(text), "a whole number")
    return int(text)


def most_columns(path: Path) -> int:
    """Return how many features or labels are believed of a file; see `most_counts`."""
    check_file(path)
    return most_counts(path)[1]


def most_counts(path: Path) -> tuple[int, int]:
    """Return how many rows a readable file can hold, and how many features or labels are believed of it.

    A row has a byte at least. Of columns a fair number may be empty, but arrays over them must fit the memory of this
    machine.
    """
    size = path.stat().st_size * (EXPANSION if is_compressed(path) else 1)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(LARGEST, size), min(LARGEST, max(FREE_COLUMNS, size), memory // COLUMN_BYTES)
