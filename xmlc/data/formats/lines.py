"""Text files by blocks or lines, their numbers, and reports of malformed lines.

A decimal number consists of digits and a power of ten. If both are exact in double precision, one
operation computes the number and rounds only once, which is the fast path of Clinger, "How to read
floating point numbers accurately", PLDI 1990. Callers of `parse_decimal` parse all other numbers by
another method. Kernels read ``text`` (uint8) from ``position`` up to ``end``, the end of the line.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np

from xmlc.core.errors import MissingFileError, XmlcError
from xmlc.core.kernel_cache import njit
from xmlc.data.archives import open_plain

T = TypeVar("T")
BLOCK_BYTES = 1 << 22
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Only ASCII blanks separate words, because names may contain other spaces of Unicode
BLANKS = " \t\n\r\x0b\x0c"
LISTED = 20
# Backtracking, which possessive quantifiers prevent, takes quadratic time on long digit sequences
DECIMAL = re.compile(r"[+-]?(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?", re.ASCII)
TRUTHS = {"0": False, "1": True, "false": False, "true": True, "no": False, "yes": True}
# A number with more digits may exceed 64 bits, and is no valid id
WHOLE = re.compile(r"\d{1,18}", re.ASCII)
LARGEST = int(np.iinfo(np.int32).max)

PLUS = 43
MINUS = 45
POINT = 46
ZERO = 48
NINE = 57
UPPER_E = 69
LOWER_E = 101
# Powers of ten up to 10^22 are exact in double precision
EXACT_POWERS = np.array([float(10**k) for k in range(23)])
EXACT_MANTISSA = np.uint64(1 << 53)
# The smallest number that rounds to infinity in single precision
LARGEST_FLOAT32 = 3.4028235677973366e38


def check_readable(path: Path) -> None:
    """Raise an `XmlcError` unless the path is an existing file."""
    if not path.exists():
        raise MissingFileError(f"{path}: found no such file. Check the path.")
    if path.is_dir():
        raise XmlcError(f"{path}: found a folder, expected a file")
    if not path.is_file():
        raise XmlcError(f"{path}: found a pipe, expected a file. Use - for standard input.")


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, decompressed if its first bytes (not its name) call for it."""
    check_readable(path)
    return open_plain(path)


def line_blocks(path: Path, block_bytes: int = BLOCK_BYTES) -> Iterator[bytes]:
    """Yield the content of a file in blocks that end with a newline, added if the file lacks it.

    A file that is missing, not text or damaged raises an `XmlcError`.
    """
    rest: list[bytes] = []
    with open_bytes(path) as file:
        first = file.read(block_bytes).removeprefix(BYTE_ORDER_MARK)
        if b"\0" in first:
            expected = "UTF-8 text. Unpack archives, and save matrices with scipy.sparse.save_npz."
            raise XmlcError(f"{path}: found binary data, expected {expected}")
        for block in chain([first], iter(partial(file.read, block_bytes), b"")):
            cut = block.rfind(b"\n") + 1
            if cut:
                yield b"".join([*rest, block[:cut]])
                rest = []
            rest.append(block[cut:])
    last = b"".join(rest)
    if last:
        yield last + b"\n"


def read_bytes(path: Path, most: int = -1) -> bytes:
    """Return the content of a file, which must fit in memory, or only its first ``most`` bytes."""
    with open_bytes(path) as file:
        return file.read(most)


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file without line ends, each with its number from 1."""
    lines = (line for block in line_blocks(path) for line in io.BytesIO(block))
    for number, line in enumerate(lines, start=1):
        # Invalid UTF-8 is escaped, because different names must remain different
        yield (
            number,
            line.decode("utf-8", errors="backslashreplace").removesuffix("\n").removesuffix("\r"),
        )


def first_line(path: Path) -> str:
    """Return the first line of a text file, or an empty text for an empty file."""
    return next((line for _, line in text_lines(path)), "")


def words(text: str, most: int = -1) -> list[str]:
    """Split a text at ASCII blanks only, unlike `str.split`, and at most ``most`` times."""
    return [word.decode() for word in text.encode().split(maxsplit=most)]


class LineError(ValueError):
    """An error in a line: the text found, already quoted for messages, and the expected text."""

    def __init__(self, found: str, expected: str):
        super().__init__(f"found {found}, expected {expected}")
        self.found = found
        self.expected = expected


class MalformedLines:
    """The malformed lines of a file, which are reported in one error."""

    def __init__(self, path: Path):
        self.path = path
        self.count = 0
        self.messages = list[str]()

    def add(self, line: int, found: str, expected: str) -> None:
        """Add a malformed line by its number from 1."""
        self.count += 1
        if len(self.messages) < LISTED:
            self.messages.append(f"{self.path}:{line}: found {found}, expected {expected}")

    def raise_any(self) -> None:
        """Raise one error for all collected lines, if there are any."""
        if self.count:
            more = self.count - len(self.messages)
            if more:
                self.messages.append(f"... and {more} more malformed lines")
            found = f"{self.count} malformed lines"
            if self.count == 1:
                found = "1 malformed line"
            messages = "\n".join(self.messages)
            raise XmlcError(
                f"{self.path}: found {found}, nothing was read. Fix these lines:\n{messages}"
            )


def each_read(
    malformed: MalformedLines, lines: Iterable[tuple[int, str]], read: Callable[[str], T]
) -> Iterator[T]:
    """Yield the value of each stripped line, then raise one error for all malformed lines."""
    for number, line in lines:
        try:
            yield read(line.strip(BLANKS))
        except LineError as error:
            malformed.add(number, error.found, error.expected)
    malformed.raise_any()


def quoted(text: str) -> str:
    """Quote text from a file for a message, on one line and shortened if it is long."""
    if len(text) > 60:
        text = f"{text[:57]}..."
    return repr(text)


def decimal(text: str) -> float:
    """Return the value of a decimal number that is finite in single precision.

    All other texts raise a `LineError`, even ``1_000`` and ``nan``, which Python accepts.
    """
    value = math.inf
    if DECIMAL.fullmatch(text):
        value = float(text)
    if abs(value) >= LARGEST_FLOAT32:
        raise LineError(quoted(text), "a decimal number in the range of float32")
    return value


def truth(text: str) -> bool:
    """Convert the value of a label: 0, 1, 1.0, or a word such as true and no, in any case.

    All other texts raise a `LineError`.
    """
    value: float | None = TRUTHS.get(text.lower())
    if value is None and DECIMAL.fullmatch(text):
        value = float(text)
    if value not in (0, 1):
        raise LineError(quoted(text), "0 or 1, false or true, no or yes")
    return bool(value)


def whole(text: str) -> int:
    """Return the value of an unsigned whole number in ASCII digits, or raise a `LineError`."""
    if not WHOLE.fullmatch(text):
        raise LineError(quoted(text), "a whole number")
    return int(text)


@njit
def parse_integer(text, position, end):
    """Read an unsigned integer.

    Returns
    -------
    value, next : int64
        ``next`` is the position after the number, or ``position`` if it has no digit.
    """
    value = np.int64(0)
    while position < end and ZERO <= text[position] <= NINE:
        # No valid number is larger than 2^53, so this prevents an overflow
        if value < 1 << 53:
            value = value * 10 + (text[position] - ZERO)
        position += 1
    return value, position


@njit
def parse_decimal(text, position, end):
    """Read a decimal number.

    Returns
    -------
    value : float64
        Correctly rounded if ``exact`` is true.
    next : int
        Position after the number, or ``position`` if there is none.
    exact : bool
        Whether the digits and the power of ten are both exact in double precision.
    """
    start = position
    negative = position < end and text[position] == MINUS
    if position < end and (text[position] == MINUS or text[position] == PLUS):
        position += 1
    mantissa = np.uint64(0)
    digits = 0
    exponent = 0
    # Change of the exponent by each digit: 0 before the decimal point, -1 after it
    step = 0
    seen = False
    while position < end:
        if ZERO <= text[position] <= NINE:
            if digits < 19:
                mantissa = mantissa * np.uint64(10) + np.uint64(text[position] - ZERO)
                digits += mantissa > 0
                exponent += step
            else:  # Another digit would not fit into 64 bits
                digits = 20
                exponent += step + 1
            seen = True
        elif text[position] == POINT and step == 0:
            step = -1
        else:
            break
        position += 1
    if not seen:
        return 0.0, start, True
    if position < end and (text[position] == UPPER_E or text[position] == LOWER_E):
        sign = 1
        mark = position
        position += 1
        if position < end and (text[position] == MINUS or text[position] == PLUS):
            if text[position] == MINUS:
                sign = -1
            position += 1
        power, after = parse_integer(text, position, end)
        if after == position:
            return 0.0, mark, True
        position = after
        exponent += sign * min(power, 100000)
    exact = mantissa <= EXACT_MANTISSA and digits < 20 and -22 <= exponent <= 22
    value = np.float64(mantissa)
    if exact and exponent >= 0:
        value *= EXACT_POWERS[exponent]
    elif exact:
        value /= EXACT_POWERS[-exponent]
    if negative:
        value = -value
    return value, position, exact
