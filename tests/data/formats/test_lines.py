"""Test that files are decompressed by their content, and that numbers are read as in Python."""

import bz2
import gzip
import lzma
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from xmlc.data import load
from xmlc.data.formats import lines, rows


@pytest.mark.parametrize(
    ("suffix", "opener"), [(".gz", gzip.open), (".xz", lzma.open), (".bz2", bz2.open), ("", open)]
)
def test_content_determines_compression(tmp_path, suffix, opener):
    path = tmp_path / f"odd-name{suffix[::-1]}"
    with opener(path, "wb") as file:
        file.write(b"2 3 2\n1 0:1 2:0.5\n 1:2\n")
    X, Y = load(path)
    assert X.toarray().tolist() == [[1, 0, 0.5], [0, 2, 0]]
    assert Y.toarray().tolist() == [[False, True], [False, False]]


TEXTS = st.from_regex(
    rb"[0-9]{0,22}\.?[0-9]{0,22}([eE][+-]?[0-9]{0,3})?[ :x,.]?", fullmatch=True
) | st.binary(max_size=24)


@settings(max_examples=300)
@given(st.sampled_from([b"", b"-", b"+"]), TEXTS)
@example(b"", b"0.1000000000000000055511151231257827")
@example(b"-", b"9007199254740993")
@example(b"", b"12.E1")
@example(b"", b"1e")
@example(b"", b"..5")
def test_decimals_are_parsed_like_python(sign, rest):
    text = sign + rest
    value, after, exact = lines.parse_decimal(np.frombuffer(text, dtype=np.uint8), 0, len(text))
    found = re.match(lines.DECIMAL.pattern.encode(), text)
    assert after == (found.end() if found else 0)
    # Otherwise the line is malformed.
    if found and exact and text[after : after + 1].lower() != b"e":
        assert value == float(found[0])
    if found and len(found[0]) < 16:
        assert exact or b"e" in found[0].lower()


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=30), min_size=1, max_size=5).map(b"\n".join))
@example(b"\x0b\n\x0b\x0b\n")
def test_lines_end_like_python_lines(text):
    text += b"\n"
    start = 0
    while start < len(text):
        end, stop = rows.find_line(np.frombuffer(text, dtype=np.uint8), start, False)
        assert end == text.index(b"\n", start)
        assert text[start:stop] == text[start:end].removesuffix(b"\r")
        start = end + 1
