"""Test compressed files and archives: only the wanted files are unpacked, and only into the
folder.
"""

import bz2
import gzip
import io
import lzma
import tarfile

import numpy as np
import pytest
from archive_cases import tar_member, tar_of, zip_of
from facts import raises_with
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.archives import CHUNK, open_plain, unpack
from xmlc.data.formats.npz import load_npz
from xmlc.data.formats.texts import documents

FILES = {
    "d/train.txt": b"1 1 1\n0 0:1\n" * 500,
    "d/test.txt": b"1 1 1\n0 0:2\n",
    "d/readme.md": b"hello",
}
WANTED = ("train.txt", "test.txt")
ARCHIVES = {"zip": zip_of(FILES)} | {
    f"tar{mode}": tar_of(FILES, f"w{mode}") for mode in ("", ":gz", ":bz2", ":xz")
}
every_archive = pytest.mark.parametrize("content", ARCHIVES.values(), ids=ARCHIVES)
SUFFIX_OF = {gzip.compress: ".gz", bz2.compress: ".bz2", lzma.compress: ".xz"}
UNPACKED = {"train.txt": FILES["d/train.txt"], "test.txt": FILES["d/test.txt"]}
every_compression = pytest.mark.parametrize("compress", SUFFIX_OF, ids=SUFFIX_OF.values())


@pytest.fixture
def run(tmp_path):
    """Return a function that unpacks bytes into a new folder and returns its files."""
    (tmp_path / "out").mkdir()

    def run(content, wanted=WANTED):
        (tmp_path / "archive").write_bytes(content)
        unpack(tmp_path / "archive", wanted, tmp_path / "out")
        return {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}

    return run


@every_archive
def test_wanted_members_are_flattened_and_others_skipped(run, content):
    assert run(content) == UNPACKED


@pytest.mark.parametrize("pack", [zip_of, tar_of])
@pytest.mark.parametrize("inner", [zip_of, tar_of])
def test_nested_archive_is_treated_as_file(run, pack, inner):
    packed = FILES | {"z.bin": inner({"d/train.txt": b"old", "d/test.txt": b"old"})}
    assert run(pack(packed)) == UNPACKED


@every_compression
def test_single_compressed_file_gets_wanted_name(run, compress):
    assert run(compress(b"1 1 1\n0 0:1\n"), ["data.txt"]) == {"data.txt": b"1 1 1\n0 0:1\n"}


@pytest.mark.parametrize("pack", [zip_of, tar_of])
@pytest.mark.parametrize("folder", ["..", "d/../..", "/etc"])
def test_no_file_is_written_outside_folder(run, tmp_path, pack, folder):
    before = sorted(tmp_path.parent.iterdir())
    assert run(pack(FILES | {f"{folder}/x.csv": b"!"}), ["x.csv"]) == {"x.csv": b"!"}
    assert sorted(tmp_path.parent.iterdir()) == before


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_are_refused(run, kind):
    with raises_with(XmlcError, "evil"):
        run(tar_of(FILES, extra=[tar_member(kind, "evil")]), ["evil", "test.txt"])


@every_archive
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6])
def test_an_archive_that_ends_early_is_an_error(run, content, share):
    with pytest.raises(XmlcError):
        run(content[: int(len(content) * share)])


def test_a_missing_member_lists_what_is_there(run):
    with raises_with(XmlcError, "test.txt", "a/readme, a/train.txt"):
        run(zip_of({"a/train.txt": b"1", "a/readme": b""}))


def test_two_members_with_same_name_are_refused(run):
    with raises_with(XmlcError, "train.txt"):
        run(zip_of({"a/train.txt": b"1", "b/train.txt": b"2", "test.txt": b""}))


@pytest.mark.parametrize("pack", [zip_of, tar_of])
@every_compression
def test_compressed_member_is_decompressed(run, pack, compress):
    content = FILES["d/train.txt"]
    streams = compress(content[:60]) + compress(content[60:])
    name = f"train.txt{SUFFIX_OF[compress]}"
    others = {"d/test.txt": FILES["d/test.txt"]}
    packed = pack(others | {f"d/{name}": streams})
    assert run(packed) == UNPACKED
    assert run(packed, [name])[name] == streams, "the name that is wanted has the suffix"
    with raises_with(XmlcError, f"d/{name}"):
        run(pack(others | {f"d/{name}": streams + b"foreign"}))


@pytest.mark.parametrize("other", ["d/train.txt.gz", "d/train.txt.xz", "e/train.txt.bz2"])
def test_member_in_plain_and_compressed_form_is_refused(run, other):
    with raises_with(XmlcError, "train.txt"):
        run(zip_of(FILES | {other: b""}))


def damaged(content):
    """Yield copies of a file. In each copy, one bit of another byte is flipped."""
    for place in range(len(content)):
        copy = bytearray(content)
        copy[place] ^= 1 << place % 8
        yield bytes(copy)


def matrix_of(text):
    file = io.BytesIO()
    matrix = sparse.csr_array(np.array([list(text)], dtype=np.float32))
    sparse.save_npz(file, matrix, compressed=False)
    return file.getvalue()


def read_member(path):
    unpack(path, ["train.txt"], path.parent)
    return (path.parent / "train.txt").read_bytes()


TEXT = b"a text;one\n" * 9
ROWS = b"6 3 2\n" + b"0 0:1\n1 1:0.5 2:3\n" * 3
MEMBERS = {"d/train.txt": ROWS, "d/e.txt": TEXT}
#: Maps each kind of file to its content, the function that reads it, and its name without the
#: suffix of a compression.
READERS = {
    "repository": (ROWS, lambda path: [part.toarray().tolist() for part in load(path)], "a.txt"),
    "csv": (b"text,labels\n" + TEXT.replace(b";", b","), lambda path: [*documents(path)], "a.csv"),
    "scores": (matrix_of(TEXT), lambda path: load_npz(path).toarray().tolist(), "a.npz"),
    "one file": (ROWS, read_member, "a.txt"),
    "tar": (tar_of(MEMBERS), read_member, "a.tar"),
    "long tar": (tar_of({"d/train.txt": ROWS}) + bytes(100_000), read_member, "a.tar"),
}
# The format tar has no checksums of contents.
CASES = [(zip_of({"d/train.txt": bytes(range(256))}), read_member, "a.zip")]
for content, read, name in READERS.values():
    half = len(content) // 2
    for compress, suffix in SUFFIX_OF.items():
        CASES.append((compress(content[:half]) + compress(content[half:]), read, name + suffix))


@pytest.mark.parametrize(("content", "read", "name"), CASES, ids=[case[2] for case in CASES])
def test_changed_byte_fails_or_has_no_effect(tmp_path, content, read, name):
    path = tmp_path / name
    path.write_bytes(content)
    expected = read(path)
    files = {*tmp_path.iterdir()}
    refused = 0
    for copy in damaged(content):
        path.write_bytes(copy)
        try:
            assert read(path) == expected
        except XmlcError:
            refused += 1
        assert {*tmp_path.iterdir()} == files
    assert refused > len(content) / 2


@every_compression
def test_all_streams_are_read_and_last_must_be_complete(tmp_path, compress):
    first = b"3 2 2\n0 0:1\n" * 9
    second = b"1 1:0.5\n1 0:2\n" * 9
    path = tmp_path / f"a{SUFFIX_OF[compress]}"
    content = compress(first) + compress(second)
    path.write_bytes(content)
    with open_plain(path) as file:
        assert file.read() == first + second
    # The first of two complete streams ends at this size.
    for size in {*range(len(content))} - {len(compress(first))}:
        path.write_bytes(content[:size])
        if size < 6:
            with raises_with(XmlcError, path.name):
                open_plain(path)
            continue
        with open_plain(path) as file, raises_with(XmlcError, path.name):
            file.read()


@every_compression
@pytest.mark.parametrize(
    "behind", [b"x", b"\n", b"foreign bytes", b"\0\0x", b"\0" * 4 + b"\xfd7zXZ\0", b"\0", b"\0" * 8]
)
def test_only_padding_may_follow_last_stream(tmp_path, compress, behind):
    path = tmp_path / "a"
    content = b"0 0:1\n" * 9
    path.write_bytes(compress(content) + behind)
    multiple = 4 if compress is lzma.compress else 1
    with open_plain(path) as file:
        if not behind.strip(b"\0") and len(behind) % multiple == 0:
            assert file.read() == content
            path.write_bytes((compress(content) + behind) * 2)
            with open_plain(path) as file:
                assert file.read() == content * 2
        else:
            with pytest.raises(XmlcError):
                file.read()


@every_compression
def test_streams_and_padding_longer_than_a_block_are_read(tmp_path, compress):
    random = np.random.default_rng(0).bytes(CHUNK + 1)
    (tmp_path / "a").write_bytes((compress(random) + bytes(2 * CHUNK)) * 3)
    with open_plain(tmp_path / "a") as file:
        assert b"".join(iter(lambda: file.read(1000), b"")) == random * 3
