"""The text of a file, compressed or not."""

import bz2
import gzip
import lzma

import pytest

from xmlc.data import load


@pytest.mark.parametrize(("suffix", "opener"), [(".gz", gzip.open), (".xz", lzma.open), (".bz2", bz2.open), ("", open)])
def test_compression_is_told_by_content(tmp_path, suffix, opener):
    path = tmp_path / f"odd-name{suffix[::-1]}"
    with opener(path, "wb") as file:
        file.write(b"2 3 2\n1 0:1 2:0.5\n 1:2\n")
    X, Y = load(path)
    assert X.toarray().tolist() == [[1, 0, 0.5], [0, 2, 0]]
    assert Y.toarray().tolist() == [[False, True], [False, False]]
