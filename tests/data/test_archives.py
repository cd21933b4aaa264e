"""Unpacking: what is wanted and nothing else, nowhere but in the folder."""

import bz2
import errno
import gzip
import lzma
import tarfile

import pytest
from archive_cases import tar_member, tar_of, zip_link, zip_of

from xmlc.core.errors import XmlcError
from xmlc.data import archives
from xmlc.data.archives import unpack

FILES = {"d/train.txt": b"1 1 1\n0 0:1\n" * 500, "d/test.txt": b"1 1 1\n0 0:2\n", "d/readme.md": b"hello"}
WANTED = ("train.txt", "test.txt")


@pytest.fixture
def run(tmp_path):
    """Unpack bytes into a folder of its own and return what is there."""
    (tmp_path / "out").mkdir()

    def run(content, wanted=WANTED):
        (tmp_path / "archive").write_bytes(content)
        unpack(tmp_path / "archive", wanted, tmp_path / "out")
        return {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}

    return run


GOOD = [zip_of(FILES), *(tar_of(FILES, f"w{mode}") for mode in ("", ":gz", ":bz2", ":xz"))]


@pytest.mark.parametrize("content", GOOD, ids=["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"])
def test_wanted_members_are_flattened_and_others_left(run, content):
    assert run(content) == {"train.txt": FILES["d/train.txt"], "test.txt": FILES["d/test.txt"]}


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_one_compressed_file_is_the_one_wanted(run, compress):
    assert run(compress(b"1 1 1\n0 0:1\n"), ["data.txt"]) == {"data.txt": b"1 1 1\n0 0:1\n"}


@pytest.mark.parametrize("pack", [zip_of, tar_of])
@pytest.mark.parametrize("name", ["../x", "d/../../x", "/etc/x", "..\\x", "C:\\x", "C:/x"])
def test_names_that_leave_the_folder_condemn_the_archive(run, tmp_path, pack, name):
    before = sorted(tmp_path.parent.iterdir())
    with pytest.raises(XmlcError, match="would lie outside the folder"):
        run(pack(FILES | {name: b"!"}))
    assert list((tmp_path / "out").iterdir()) == []
    assert sorted(tmp_path.parent.iterdir()) == before


@pytest.mark.parametrize(
    "content",
    [
        *(tar_of(FILES, extra=[tar_member(kind)]) for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE)),
        *(tar_of(FILES, extra=[tar_member(kind)]) for kind in (tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)),
        zip_link(),
    ],
    ids=["symlink", "hardlink", "character", "block", "fifo", "zip symlink"],
)
def test_links_and_devices_condemn_the_archive(run, tmp_path, content):
    with pytest.raises(XmlcError, match="is a link or device"):
        run(content)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("content", GOOD, ids=["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6])
def test_an_archive_that_ends_early_is_said_to_be_cut_off(run, content, share):
    with pytest.raises(XmlcError, match=r"cut off|lacks"):
        run(content[: int(len(content) * share)])


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_damaged_later_stream_is_found(run, compress):
    tar = tar_of(FILES)
    for half in (len(tar) // 2, len(tar) - 100):  # the last bytes stand behind what says that the archive ends
        first, second = compress(tar[:half]), bytearray(compress(tar[half:]))
        assert sorted(run(first + second)) == ["test.txt", "train.txt"]
        second[len(second) // 2] ^= 1
        with pytest.raises(XmlcError, match="the archive: the data is damaged or cut off"):
            run(first + second)


def test_a_flipped_byte_is_found(run):
    content = bytearray(zip_of({"train.txt": bytes(range(256)) * 8, "test.txt": b"x"}))
    content[len("PK") + 60] ^= 0xFF
    with pytest.raises(XmlcError, match="damaged or cut off"):
        run(bytes(content))


def test_a_missing_member_lists_what_is_there(run):
    with pytest.raises(XmlcError, match=r"lacks test\.txt; it holds a/readme, a/train\.txt$"):
        run(zip_of({"a/train.txt": b"1", "a/readme": b""}))
    with pytest.raises(XmlcError, match=r"and 11 more$"):
        run(zip_of({f"f{number:02}": b"" for number in range(31)}))


def test_two_members_of_one_name_are_not_chosen_between(run):
    with pytest.raises(XmlcError, match=r"holds more than one train\.txt"):
        run(zip_of({"a/train.txt": b"1", "b/train.txt": b"2", "test.txt": b""}))


def test_a_folder_of_a_wanted_name_is_not_the_file(run):
    found = run(tar_of({"train.txt/train.txt": b"1", "test.txt": b"2"}, extra=[tar_member(tarfile.DIRTYPE, "x/")]))
    assert found == {"train.txt": b"1", "test.txt": b"2"}


def test_a_full_disk_is_not_blamed_on_the_archive(run, monkeypatch):
    def full(source, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(archives, "_copy", full)
    with pytest.raises(OSError, match="No space left"):
        run(GOOD[0])
