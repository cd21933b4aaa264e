"""Compressed files: every stream whole, nothing but padding behind the last, and no more out than is allowed."""

import bz2
import gzip
import io
import lzma
import random
import zlib

import pytest

from xmlc.data import load
from xmlc.data.compressed import Expansion, Unreadable, limited_expansion, most_plain_bytes, open_plain
from xmlc.errors import XmlcError

KINDS = {
    "xz": lambda data: lzma.compress(data, preset=0),
    "bz2": bz2.compress,
    "gz": lambda data: gzip.compress(data, mtime=0),
}
FIRST, SECOND = b"3 2 2\n0 0:1\n" * 9, b"1 1:0.5\n1 0:2\n" * 9
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def read(tmp_path):
    """Read bytes as a file, at once or a few at a time."""

    def read(content, size=-1):
        (tmp_path / "a").write_bytes(content)
        with open_plain(tmp_path / "a") as file:
            return b"".join(iter(lambda: file.read(size), b""))

    return read


@every_kind
@pytest.mark.parametrize("size", [-1, 1, 100, 1 << 20])
def test_all_streams_are_read(read, kind, size):
    compress = KINDS[kind]
    streams = [compress(FIRST), compress(b""), compress(SECOND), compress(FIRST)]
    assert read(b"".join(streams), size) == FIRST + SECOND + FIRST


@every_kind
def test_streams_of_many_sizes_are_read(read, kind):
    rng = random.Random(0)
    parts = [rng.randbytes(rng.choice([0, 1, 70_000])) + b"\0" * rng.randrange(300_000) for _ in range(12)]
    with limited_expansion(Expansion(ratio=1e9)):
        assert read(b"".join(map(KINDS[kind], parts)), 12_345) == b"".join(parts)


@every_kind
def test_no_flipped_bit_of_a_second_stream_is_silent(read, kind):
    first, second = KINDS[kind](FIRST), KINDS[kind](SECOND)
    refused = 0
    for bit in range(8 * len(second)):
        damaged = bytearray(second)
        damaged[bit // 8] ^= 1 << bit % 8
        try:
            assert read(first + damaged) == FIRST + SECOND
        except Unreadable as error:
            assert "damaged or cut off" in str(error)  # noqa: PT017 (where it is read, it is read right)
            refused += 1
    # No content depends on the block size of bzip2's header and the bits that fill its last byte, nor on the time, the
    # system and the level of gzip's.
    assert refused >= 8 * len(second) - {"xz": 0, "bz2": 16, "gz": 8 * 7}[kind]


@every_kind
def test_a_file_may_not_end_within_a_stream(read, kind):
    first, second = KINDS[kind](FIRST), KINDS[kind](SECOND)
    for length in range(1, len(second)):
        with pytest.raises(Unreadable, match="damaged or cut off"):
            read(first + second[:length])


@every_kind
@pytest.mark.parametrize("count", [4, 8, 1 << 18])
def test_zeros_behind_the_last_stream_are_padding(read, kind, count):
    assert read(KINDS[kind](FIRST) + bytes(count)) == FIRST


@every_kind
@pytest.mark.parametrize("tail", [b"x", b"\n", b"\0\0\0\0x", FIRST])
def test_anything_else_behind_the_last_stream_is_an_error(read, kind, tail):
    with pytest.raises(Unreadable):
        read(KINDS[kind](FIRST) + tail)


def test_padding_of_xz_is_a_multiple_of_four_bytes_and_may_stand_between_streams(read):
    first, second = lzma.compress(FIRST), lzma.compress(SECOND)
    assert read(first + bytes(8) + second + bytes(4)) == FIRST + SECOND
    for content in (first + bytes(3), first + bytes(5) + second):
        with pytest.raises(Unreadable, match="found zeros behind a stream"):
            read(content)
    with pytest.raises(Unreadable):
        read(gzip.compress(FIRST) + bytes(4) + gzip.compress(SECOND))


@every_kind
def test_it_can_be_sought_in(tmp_path, kind):
    content = random.Random(1).randbytes(300_000)
    (tmp_path / "a").write_bytes(KINDS[kind](content[:200_000]) + KINDS[kind](content[200_000:]))
    with open_plain(tmp_path / "a") as file:
        for start in (0, 299_990, 10, 199_995, 250_000, 0):
            assert file.seek(start) == start
            assert file.read(10) == content[start : start + 10]
            assert file.tell() == start + 10
        assert file.seek(400_000) == 300_000
        with pytest.raises(io.UnsupportedOperation):
            file.seek(0, io.SEEK_END)


@every_kind
def test_a_file_that_expands_too_far_is_refused(tmp_path, kind):
    (tmp_path / "train.txt").write_bytes(KINDS[kind](b"3 1 1\n" + b"\n" * 20_000_000))
    with pytest.raises(XmlcError, match=r"train\.txt: expands from \d+ to more than 16777216 bytes.*raise expansion"):
        load(tmp_path / "train.txt", "repository")
    with limited_expansion(Expansion(ratio=1e9)), pytest.raises(XmlcError, match="the end of the file after 0 inst"):
        load(tmp_path / "train.txt", "repository")
    with limited_expansion(Expansion(ratio=1e9, gigabytes=0.02)), pytest.raises(XmlcError, match="more than 20000000"):
        load(tmp_path / "train.txt", "repository")


def test_short_files_may_be_as_regular_as_they_like(read):
    assert len(read(zlib.compress(bytes(1 << 24), wbits=31))) == 1 << 24


def test_an_xz_file_cannot_ask_for_all_memory(read):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1536 << 20}]
    content = bytearray(lzma.compress(FIRST, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}]))
    # The byte of the block's header that holds the size of the window, and the header's checksum.
    header = content[12:24]
    header[4] = 40  # 4 GiB
    header[8:12] = zlib.crc32(header[:8]).to_bytes(4, "little")
    content[12:24] = header
    assert filters[0]["dict_size"] > 1 << 30
    with pytest.raises(Unreadable, match="damaged or cut off"):
        read(bytes(content))


def test_how_much_a_file_may_give(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert most_plain_bytes(tmp_path / "a") == 5
    (tmp_path / "a").write_bytes(gzip.compress(b"12345"))
    assert most_plain_bytes(tmp_path / "a") == 1 << 24
    assert Expansion().most_bytes(1 << 20) == 100 << 20
    assert Expansion().most_bytes(1 << 40) == 64_000_000_000
