"""Mutated compressed files and archives: what comes out is what went in, or words; never a crash, never a hang."""

import bz2
import gzip
import lzma
from itertools import chain

import fuzzing
import naive_archives as naive
import naive_formats
import pytest
from archive_cases import sparse_tar, tar_member, tar_of, zip_of

from xmlc.data import load
from xmlc.data.archives import unpack
from xmlc.errors import XmlcError

IN_CI = 20_000

pytestmark = pytest.mark.slow
HALVES = (b"4 4 5\n1,2 0:1 3:0.5\n 1:-2e-3\n", b"0 \n2,0 3:17.25 0:1\n")
FILES = {"d/train.txt": b"1 1 1\n0 0:1\n" * 20, "d/test.txt": b"1 1 1\n0 0:2\n", "d/readme.md": b"hello"}
WANTED = {"train.txt": FILES["d/train.txt"], "test.txt": FILES["d/test.txt"]}
COMPRESS = {"xz": lzma.compress, "bz2": bz2.compress, "gz": lambda data: gzip.compress(data, mtime=0)}
TAR = tar_of(FILES)


def outcome(action, refusal):
    try:
        return action()
    except refusal:
        return "refused"


@pytest.mark.parametrize("kind", COMPRESS)
def test_mutated_files_of_two_streams_are_read_whole_or_refused(kind):
    compress = COMPRESS[kind]
    inputs = [
        (b"".join(map(compress, HALVES)),),
        (compress(HALVES[0]) + compress(b"") + compress(HALVES[1]) + bytes(8),),
    ]
    with fuzzing.folder_in_memory() as folder, fuzzing.limited_time() as still_alive:
        path = folder / "train.txt"
        for number, (content,) in enumerate(chain(inputs, fuzzing.mutations(inputs, fuzzing.count(IN_CI)))):
            path.write_bytes(content)
            if number > len(inputs):  # the first ones compile the kernels
                still_alive()
            found = outcome(lambda: fuzzing.as_lists(*load(path, "repository")), XmlcError)
            expected = outcome(
                lambda content=content: naive_formats.repository(naive.plain(content)), naive_formats.Refused
            )
            assert found == expected, content


def unpacked(archive, folder):
    """Return what is unpacked, by name; whatever happens, nothing else is there."""
    target = folder / "a" / "out"
    target.mkdir(parents=True)
    try:
        unpack(archive, WANTED, target)
        return {path.name: path.read_bytes() for path in target.iterdir()}
    finally:
        left = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        for path in target.iterdir():
            path.unlink()
        target.rmdir()
        target.parent.rmdir()
        assert set(left) <= {"archive", "a/out/train.txt", "a/out/test.txt"}


def from_zip(content):
    """Checksums hold what is in a zip; a name only where it is written twice, and one of both may be lost."""
    return WANTED


def from_tar(content):
    """Only headers of a tar have checksums: a changed text comes out as it is."""
    members = naive.tar_files(naive.plain(content))
    found = {}
    for name in WANTED:
        matches = [(data, size) for path, data, size in members if path.rpartition("/")[2] == name]
        naive_formats.demand(len(matches) == 1)
        data, size = matches[0]
        naive_formats.demand(data is not None and len(data) == size)
        found[name] = data
    for path, _, _ in members:
        parts = path.replace("\\", "/").split("/")
        naive_formats.demand(".." not in parts and not path.startswith(("/", "\\")) and not parts[0].endswith(":"))
    return found


ARCHIVES = {
    "zip": ([zip_of(FILES)], from_zip),
    "tar": ([TAR, tar_of(FILES, extra=[tar_member(b"5", "x")])], from_tar),
    **{f"tar.{kind}": ([compress(TAR[:1000]) + compress(TAR[1000:])], from_tar) for kind, compress in COMPRESS.items()},
    "other tars": ([sparse_tar("train.txt", 1000), tar_of(FILES, extra=[tar_member(b"2")])], None),
}
TOKENS = [
    "PK\x01\x02",
    "PK\x03\x04",
    "PK\x05\x06",
    "ustar",
    "../",
    "/etc/x",
    "train.txt",
    "test.txt",
    "00000000000",
    "77777777777",
]


@pytest.mark.parametrize("kind", ARCHIVES)
def test_of_mutated_archives_comes_what_went_in_or_nothing(kind):
    contents, naively = ARCHIVES[kind]
    inputs = [(content,) for content in contents]
    accepted = 0
    with fuzzing.folder_in_memory() as folder, fuzzing.limited_time() as still_alive:
        for (content,) in chain(inputs, fuzzing.mutations(inputs, fuzzing.count(IN_CI) // len(ARCHIVES), TOKENS)):
            still_alive()
            (folder / "archive").write_bytes(content)
            found = outcome(lambda: unpacked(folder / "archive", folder), XmlcError)
            accepted += found != "refused"
            if found == "refused" or naively is None:
                continue  # the unpacker may refuse what another would take
            try:
                expected = outcome(lambda content=content: naively(content), naive_formats.Refused)
            except naive.NoOpinion:
                continue
            assert found == expected, content
    assert accepted > 0.02 * fuzzing.count(IN_CI) / len(ARCHIVES) or naively is None
