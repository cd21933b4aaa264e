"""Claims of a file are held against its size and the memory; numbers are read as Python reads them."""

import bz2
import gzip
import lzma
import re
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.formats import lines, read_coordinates, rows

HUGE = 2_147_483_647


@pytest.fixture
def refused(tmp_path):
    """Write files, load them, and return the error; it must come without much memory."""

    def refused(*texts, **options):
        paths = [tmp_path / f"file{number}" for number in range(len(texts))]
        for path, text in zip(paths, texts):
            path.write_text(text)
        tracemalloc.start()
        with pytest.raises(XmlcError) as error:
            load(paths[0], labels=paths[1] if texts[1:] else None, **options)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1 << 28  # what a reader reserves at once
        return str(error.value).replace(f"{tmp_path}/", "")

    return refused


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (f"3 2 {HUGE}", f"file0:1: found {HUGE} labels, expected at most 67108864, for what the file and this machine"),
        (f"3 {HUGE} 2", f"file0:1: found {HUGE} features, expected at most 67108864"),
        (f"{HUGE} 2 2", f"file0:1: found {HUGE} instances, expected at most 20, for"),
    ],
)
def test_a_header_may_not_claim_more_than_the_file_holds(refused, header, message):
    assert message in refused(f"{header}\n0 0:1")


def test_a_pair_of_files_likewise(refused):
    good = "1 2\n0:1\n"
    assert f"file0:1: found {HUGE} features" in refused(f"1 {HUGE}\n0:1\n", good, format="repository-two-files")
    assert f"file1:1: found {HUGE} labels" in refused(good, f"1 {HUGE}\n0:1\n", format="repository-two-files")


def test_nor_may_an_id_where_the_largest_decides(refused, tmp_path):
    assert "file0:1: found '2147483646:1', expected a feature of 0" in refused("0 2147483646:1\n", format="svmlight")
    assert "file0:1: found '2147483646', expected a label of 0" in refused("2147483646 0:1\n", format="svmlight")
    assert "file0:1: found '2147483646', expected labels as" in refused("2147483646 | a\n", format="vw")
    for name in "abcde":
        (tmp_path / name).write_text("2147483646\n" if name in "be" else "1\n")
    with pytest.raises(XmlcError, match=r"b:1: found '2147483646', expected a whole number of 1 \.\. 67108864"):
        read_coordinates([tmp_path / name for name in "abcde"])


def test_the_memory_of_the_machine_counts(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("1 5000 1\n0 0:1\n")
    monkeypatch.setattr(lines.os, "sysconf", {"SC_PHYS_PAGES": 10, "SC_PAGE_SIZE": 4096}.get)
    with pytest.raises(XmlcError, match="found 5000 features, expected at most 2560"):
        load(tmp_path / "a")


@pytest.mark.parametrize("row", [b"0 0:1\n", b"0:1\n", b"0:0\n"])
def test_rows_beyond_the_header_end_the_reading_at_once(tmp_path, row):
    header, options = (b"3 2 2\n", {}) if row[:2] == b"0 " else (b"3 2\n", {"labels": tmp_path / "labels"})
    (tmp_path / "labels").write_text("3 2\n\n\n\n")
    (tmp_path / "a").write_bytes(gzip.compress(header + row * 10_000_000, compresslevel=1))
    begun = time.perf_counter()
    with pytest.raises(XmlcError, match="a:5: found instance 4, expected 3, as line 1 says"):
        load(tmp_path / "a", "repository-two-files" if options else "repository", **options)
    assert time.perf_counter() - begun < 5


def test_blank_lines_behind_the_last_row_are_not_kept(tmp_path):
    (tmp_path / "X").write_bytes(b"3 2\n0:1\n\n1:1\n" + b"\r\n" * 5_000_000)
    (tmp_path / "Y").write_text("3 2\n\n\n0:1\n")
    X, Y = load(tmp_path / "X", "repository-two-files", labels=tmp_path / "Y")
    assert (X.shape, Y.shape) == ((3, 2), (3, 2))


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".xz", lzma.open), (".bz2", bz2.open), ("", open)])
def test_compression_is_told_by_content(tmp_path, suffix, opener):
    path = tmp_path / f"odd-name{suffix[::-1]}"
    with opener(path, "wb") as file:
        file.write(b"2 3 2\n1 0:1 2:0.5\n 1:2\n")
    X, Y = load(path)
    assert X.toarray().tolist() == [[1, 0, 0.5], [0, 2, 0]]
    assert Y.toarray().tolist() == [[False, True], [False, False]]


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
    value, after = lines.parse_short_integer(as_array(text), position)
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
    value, after = lines.parse_short_decimal(as_array(text), 0)
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
    parse = getattr(lines, name)
    for position in range(length):
        assert len({parse(text, position) for text in larger}) == 1
