"""Bytes of plain or compressed files, in blocks of whole lines."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from xmlc.errors import XmlcError

BLOCK_BYTES = 1 << 22
MAGIC = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
BROKEN = (EOFError, OSError, lzma.LZMAError, zlib.error)


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, decompressing by its first bytes rather than by its name.

    Raises
    ------
    XmlcError
        There is no such file, or it is a web page.
    """
    if not path.is_file():
        raise XmlcError(f"{path}: no such file")
    with open(path, "rb") as file:
        head = file.read(512)
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        raise XmlcError(f"{path}: found an HTML page, expected data; download the file anew")
    for magic, opener in MAGIC.items():
        if head.startswith(magic):
            return opener(path, "rb")
    return open(path, "rb")


def line_blocks(path: Path, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Give a file's content in blocks that end with a newline; a missing last newline is added.

    Raises
    ------
    XmlcError
        The file cannot be opened, or a compressed file is damaged or ends too early.
    """
    rest = b""
    with open_bytes(path) as file:
        while True:
            try:
                block = file.read(block_bytes)
            except BROKEN as error:
                raise XmlcError(
                    f"{path}: the compressed data is damaged or cut off ({error}); fetch it anew"
                ) from error
            if not block:
                break
            cut = block.rfind(b"\n") + 1
            if cut == 0:
                rest += block
                continue
            yield rest + block[:cut]
            rest = block[cut:]
    if rest:
        yield rest + b"\n"


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Give the lines of a text file with their numbers, from 1, without line ends."""
    number = 0
    for block in line_blocks(path):
        for line in io.BytesIO(block):
            number += 1
            yield number, line.decode("utf-8", errors="replace").rstrip("\r\n")


def first_line(path: Path) -> str:
    """Return the first line of a text file; empty for an empty file."""
    return next((line for _, line in text_lines(path)), "")
