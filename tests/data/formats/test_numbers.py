"""Kernels that read numbers, eight bytes at a time, against Python's own reading."""

import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from xmlc.data.formats import _numbers, rows

BYTES = st.binary(max_size=24) | st.text("0123456789.:, eE-+\n/;", max_size=24).map(str.encode)


def as_array(text):
    return np.frombuffer(text, dtype=np.uint8)


def at_most_7_digits(text):
    return re.match(rb"\d{1,7}(?!\d)", text)


@settings(deadline=None, max_examples=300)
@given(BYTES, st.integers(0, 3))
@example(b"12345678", 0)
@example(b"1234567:", 0)
@example(b"\xff1234567", 1)
@example(b"1\xff999999", 0)
def test_short_integers(text, position):
    value, after = _numbers.parse_short_integer(as_array(text), position)
    found = at_most_7_digits(text[position:])
    if len(text) - position < 8 or not found:
        assert after == position
    else:
        assert (value, after) == (int(found[0]), position + found.end())


@settings(deadline=None, max_examples=300)
@given(BYTES | st.from_regex(rb"\d{1,8}\.\d{0,8}[ e:.-]", fullmatch=True).map(lambda number: number + b" " * 8))
@example(b"1234567.1234567 ")
@example(b"0.5 0.25 ")
@example(b"0.5e3 0.25 ")
@example(b"12.E1    ")
def test_short_decimals_are_those_of_python(text):
    value, after = _numbers.parse_short_decimal(as_array(text), 0)
    found = re.match(rb"\d{1,7}\.\d{0,7}(?![\deE])", text)
    if not found:
        assert after == 0
    elif after:
        assert (value, after) == (float(found[0]), found.end())
    else:  # it stands too close to the end of the text for eight bytes to be looked at
        assert text.index(b".") + 9 > len(text)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.binary(max_size=30), min_size=1, max_size=5).map(lambda lines: b"\n".join(lines) + b"\n"))
@example(b"\x0b\n\x0b\x0b\n\n")
@example(b"12345678\n")
def test_lines_end_where_python_ends_them(text):
    start = 0
    while start < len(text):
        end, stop = rows.find_line(as_array(text), start, False)
        assert end == text.index(b"\n", start)
        assert text[start:stop] == text[start:end].removesuffix(b"\r")
        start = end + 1


@pytest.mark.parametrize("length", range(8, 20))
@pytest.mark.parametrize("name", ["parse_short_integer", "parse_short_decimal"])
def test_no_byte_behind_the_text_is_read(name, length):
    """The text is a part of a larger one: what stands behind must not matter."""
    number = b"1234567.7654321"[:length].rjust(length, b"7")
    larger = [as_array(number + tail)[:length] for tail in (b"99999999", b" " * 8, b".eE.....")]
    parse = getattr(_numbers, name)
    for position in range(length):
        assert len({parse(text, position) for text in larger}) == 1
