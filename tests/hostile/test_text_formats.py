"""Mutated text files: read as an independent reader reads them, or refused in words; never a crash, never a hang."""

from itertools import chain

import fuzzing
import naive_formats as naive
import pytest

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.formats import read_coordinates

IN_CI = 20_000

pytestmark = pytest.mark.slow
ROWS = b"1,2 0:1 3:0.5\n 1:-2e-3\n0 \n2,0 3:17.25 0:1 2:0.1000000000000000055\n4\n"
VW = b"3 | 5:0.5 word\n1,2 2.0 'tag|a x:2 x:1 |b:0.5 x\n| 5:1\n2 1 0.5 tag|\n'tag| 5:0\n"
VW_IDS = b"3 | 5:0.5 7\n1,2,1 2.0 'tag| 2:2 5:1\n | 5:1\n2 1 0.5 tag|\n'tag| 0:0 5:2\n"
INPUTS = {
    "repository": [
        (b"5 4 5\n" + ROWS,),
        (b"\xef\xbb\xbf1 2 3\r\n0 0:1\r\n\r\n",),
        (b"2 1 1\n0 0:1\n 0:2",),
        (b"0 3 2\n",),
    ],
    "repository-two-files": [
        (b"3 4\n0:1 3:0.5\n\n2:2\n", b"3 5\n4:1 0:1\n1:1\n\n"),
        (b"2 2\r\n1:3\r\n0:1\r\n\r\n", b"2 2\n0:1\n0:1 1:1"),
    ],
    "svmlight": [(ROWS,), (b"# made by hand\n1,1 1:2#tail 1:3\n 2:1 # 0:5\n#\n",)],
    "libsvm": [(ROWS.replace(b"0:", b"5:"),)],
    "svmlight from 1": [(ROWS.replace(b"0:", b"5:").replace(b",0", b"").replace(b"\n0", b"\n7"),)],
    "vw": [(VW_IDS,)],
    "vw by names from 1": [(VW,), (b"1,2 | a:1 b\n2 | b c:0.25\n",)],
    "coordinates": [(b"1\n1\n3\n", b"4\n1\n2\n", b"0.5\n1\n2e0\n", b"1\n3\n3\n", b"2\n1\n2\n")],
    "any": [(b"5 4 5\n" + ROWS,), (VW_IDS,), (b"1 2 3\n0|0:1\n",)],
}


def naive_any(content):
    """The format by the first line, where that tells it."""
    lines = naive.lines_of(content)
    first = lines[0].decode("utf-8", errors="backslashreplace").rstrip("\r") if lines else ""
    numbers = first.split()
    if len(numbers) == 3 and all(number.isdigit() for number in numbers):
        return naive.repository(content)
    naive.vw_row(first, 0)
    return naive.vw_ids(content, 0)


def with_labels(features, labels):
    return load(features, "repository-two-files", labels=labels)


READERS = {
    "repository": (lambda path: load(path, "repository"), naive.repository),
    "repository-two-files": (with_labels, naive.two_files),
    "svmlight": (lambda path: load(path, "svmlight"), lambda content: naive.svmlight(content, 0, 0)),
    "libsvm": (lambda path: load(path, "libsvm"), lambda content: naive.svmlight(content, 1, 0)),
    "svmlight from 1": (
        lambda path: load(path, "svmlight", zero_based=False),
        lambda content: naive.svmlight(content, 1, 1),
    ),
    "vw": (lambda path: load(path, "vw"), lambda content: naive.vw_ids(content, 0)),
    "vw by names from 1": (
        lambda path: load(path, "vw", zero_based=False, vocabulary={}),
        lambda content: naive.vw(content, 1),
    ),
    "coordinates": (lambda *paths: read_coordinates(paths), naive.coordinates),
    "any": (load, naive_any),
}


def outcome(read, files, refusal):
    try:
        return read(*files)
    except refusal:
        return "refused"


@pytest.mark.parametrize("name", READERS)
def test_mutated_files_are_read_as_the_naive_reader_reads_them(name):
    read, read_naively = READERS[name]
    accepted = 0
    with fuzzing.folder_in_memory() as folder, fuzzing.limited_time() as still_alive:
        paths = [folder / f"file{number}" for number in range(len(INPUTS[name][0]))]
        # The inputs as they are come first; what they compile is not timed.
        for number, files in enumerate(chain(INPUTS[name], fuzzing.mutations(INPUTS[name], fuzzing.count(IN_CI)))):
            for path, content in zip(paths, files):
                path.write_bytes(content)
            if number > len(INPUTS[name]):
                still_alive()
            found = outcome(lambda *files: fuzzing.as_lists(*read(*files)), paths, XmlcError)
            expected = outcome(read_naively, files, naive.Refused)
            assert found == expected, files
            accepted += expected != "refused"
    assert accepted > 0.02 * fuzzing.count(IN_CI)  # else nothing was compared
