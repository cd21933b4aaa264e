"""Compressed files: every stream whole, nothing but padding behind the last, and no more out than is allowed."""

import bz2
import gzip
import lzma
import random

import pytest

from xmlc.data.archives import Unreadable, open_plain

KINDS = {"xz": lzma.compress, "bz2": bz2.compress, "gz": lambda data: gzip.compress(data, mtime=0)}
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
