"""Decimal numbers as Python objects, for the formats that are not parsed by a kernel."""

from __future__ import annotations

import re

from xmlc.data.formats._numbers import LARGEST_FLOAT32
from xmlc.data.formats.errors import Malformed, quoted

DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
WHOLE = re.compile(r"\d{1,18}", re.ASCII)  # beyond that no id, and more than 64 bits


def decimal(text: str) -> float:
    """Return the value of a decimal number, as the row kernels read it: no ``1_000``, no ``nan``, no ``0x1p3``.

    Raises
    ------
    Malformed
        It is no decimal number, or infinite in single precision.
    """
    if not DECIMAL.fullmatch(text) or abs(value := float(text)) >= LARGEST_FLOAT32:
        raise Malformed(quoted(text), "a decimal number that fits single precision")
    return value


def whole(text: str) -> int:
    """Return the value of an unsigned whole number of ASCII digits, or raise `Malformed`."""
    if not WHOLE.fullmatch(text):
        raise Malformed(quoted(text), "a whole number")
    return int(text)
