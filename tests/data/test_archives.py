"""Compressed files and archives: what is wanted and nothing else, nowhere but in the folder."""

import bz2
import gzip
import lzma
import tarfile

import pytest
from archive_cases import tar_member, tar_of, zip_of

from xmlc.core.errors import XmlcError
from xmlc.data.archives import open_plain, read_from, unpack

FILES = {"d/train.txt": b"1 1 1\n0 0:1\n" * 500, "d/test.txt": b"1 1 1\n0 0:2\n", "d/readme.md": b"hello"}
WANTED = ("train.txt", "test.txt")
ARCHIVES = {"zip": zip_of(FILES)} | {f"tar{mode}": tar_of(FILES, f"w{mode}") for mode in ("", ":gz", ":bz2", ":xz")}
every_archive = pytest.mark.parametrize("content", ARCHIVES.values(), ids=ARCHIVES)
every_compression = pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])


@pytest.fixture
def run(tmp_path):
    """Unpack bytes into a folder of its own and return what is there."""
    (tmp_path / "out").mkdir()

    def run(content, wanted=WANTED):
        (tmp_path / "archive").write_bytes(content)
        unpack(tmp_path / "archive", wanted, tmp_path / "out")
        return {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}

    return run


@every_archive
def test_wanted_members_are_flattened_and_others_left(run, content):
    assert run(content) == {"train.txt": FILES["d/train.txt"], "test.txt": FILES["d/test.txt"]}


@every_compression
def test_one_compressed_file_is_the_one_wanted(run, compress):
    assert run(compress(b"1 1 1\n0 0:1\n"), ["data.txt"]) == {"data.txt": b"1 1 1\n0 0:1\n"}


@pytest.mark.parametrize("pack", [zip_of, tar_of])
@pytest.mark.parametrize("folder", ["..", "d/../..", "/etc"])
def test_nothing_is_written_outside_the_folder(run, tmp_path, pack, folder):
    before = sorted(tmp_path.parent.iterdir())
    assert run(pack(FILES | {f"{folder}/x.csv": b"!"}), ["x.csv"]) == {"x.csv": b"!"}
    assert sorted(tmp_path.parent.iterdir()) == before


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_a_link_or_device_is_no_file(run, kind):
    with pytest.raises(XmlcError, match="lacks evil"):
        run(tar_of(FILES, extra=[tar_member(kind, "evil")]), ["evil", "test.txt"])


@every_archive
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6])
def test_an_archive_that_ends_early_is_an_error(run, content, share):
    with pytest.raises(XmlcError, match=r"cut off|lacks"):
        run(content[: int(len(content) * share)])


def test_a_flipped_byte_is_found(run):
    content = bytearray(zip_of({"train.txt": bytes(range(256)) * 8, "test.txt": b"x"}))
    content[len("PK") + 60] ^= 0xFF
    with pytest.raises(XmlcError, match="damaged"):
        run(bytes(content))


def test_a_missing_member_lists_what_is_there(run):
    with pytest.raises(XmlcError, match=r"lacks test\.txt; it holds a/readme, a/train\.txt$"):
        run(zip_of({"a/train.txt": b"1", "a/readme": b""}))


def test_two_members_of_one_name_are_not_chosen_between(run):
    with pytest.raises(XmlcError, match=r"more than one train\.txt"):
        run(zip_of({"a/train.txt": b"1", "b/train.txt": b"2", "test.txt": b""}))


@every_compression
def test_all_streams_of_a_file_are_read_and_the_last_is_whole(tmp_path, compress):
    first, second = b"3 2 2\n0 0:1\n" * 9, b"1 1:0.5\n1 0:2\n" * 9
    content, path = compress(first) + compress(second), tmp_path / "a"
    path.write_bytes(content)
    with open_plain(path) as file:
        assert read_from(file, path) == first + second
    path.write_bytes(content[:-9])
    with pytest.raises(XmlcError, match="a: the data is damaged or cut off"), open_plain(path) as file:
        read_from(file, path)
