"""Bytes of plain or compressed files, in blocks of whole lines."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from xmlc.data.compressed import Unreadable, open_plain
from xmlc.errors import XmlcError

BLOCK_BYTES = 1 << 22
LONGEST_LINE = 1 << 28  # an instance with ten million features; anything longer is no text of lines
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def check_file(path: Path) -> None:
    """Refuse what cannot be read.

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
        The file cannot be opened, a compressed file is damaged, ends too early or expands too far (see
        `xmlc.data.compressed`), or a line has no end.
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
