"""What a file claims in a few bytes is held against its size and the memory before anything is made of it."""

import bz2
import gzip
import lzma
import time
import tracemalloc

import pytest

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.formats import lines, read_coordinates

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
