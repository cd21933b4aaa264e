"""Test mutated text files: they are refused with the file's name, or read equal to a copy written
by xmlc.
"""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.formats import read_coordinates
from xmlc.data.writer import save_repository

TRIED = int(os.environ.get("FUZZ") or 300)  # `make fuzz N=` sets this number.

pytestmark = pytest.mark.slow
ROWS = b"1,2 0:1 3:0.5\n 1:-2e-3\n0 \n2,0 3:17.25 0:1 2:0.1000000000000000055\n4\n"
VW = b"3 | 5:0.5 7\n1,2,1 2.0 'tag| 2:2 5:1\n | 5:1\n2 1 0.5 tag|\n'tag| 0:0 5:2\n"
ARFF = b"@relation x\n@attribute a numeric\n@attribute b {0,1}\n@attribute 'c d' {no,yes}\n"
ARFF += b"@data\n1,0,no\n{0 2.5, 2 yes}\n{}\n"
LABELS = (
    b'<labels xmlns="http://mulan.sourceforge.net/labels">\n'
    b'<label name="b"></label>\n<label name="c d"/>\n</labels>\n'
)
FILES = {
    "repository": (b"5 4 5\n" + ROWS,),
    "repository-two-files": (b"3 4\n0:1 3:0.5\n\n2:2\n", b"3 5\n4:1 0:1\n1:1\n\n"),
    "svmlight": (b"# made by hand\n" + ROWS,),
    "vw": (VW,),
    "arff": (ARFF, LABELS),
    "coordinates": (b"1\n1\n3\n", b"4\n1\n2\n", b"0.5\n1\n2e0\n", b"1\n3\n3\n", b"2\n1\n2\n"),
}
READERS = {
    "arff": lambda features, labels: load(features, "arff", labels=labels),
    "repository-two-files": lambda features, labels: load(
        features, "repository-two-files", labels=labels
    ),
    "coordinates": lambda *paths: read_coordinates(paths),
}
# These are numbers, separators, and characters that are digits or spaces in Unicode.
TOKENS = (
    "-1 1. 1e 1e39 nan 0x1 1_0 0:0 1:1:1 2147483647 2147483648 99999999999999999999 "
    "3.4028235677973366e38"
).split()
TOKENS += [*" \t\n,:|#'\"%\0\u00b2\u0661\u00a0\u2028\x0b\ufeff"]
TOKENS += ["", "\n\n", "\r\n", "1" * 30 + "e-20"]


@st.composite
def mutated(draw, files):
    """Return files in which one or two parts are replaced."""
    files = list(files)
    for _ in range(draw(st.integers(1, 2))):
        number = draw(st.integers(0, len(files) - 1))
        start = draw(st.integers(0, len(files[number])))
        task = draw(st.sampled_from(TOKENS).map(str.encode) | st.binary(max_size=2))
        end = start + draw(st.integers(0, 9))
        files[number] = files[number][:start] + task + files[number][end:]
    return files


@pytest.mark.parametrize("name", FILES)
def test_mutated_files_are_refused_or_survive_round_trip(name):
    read = READERS.get(name, lambda path: load(path, name))
    accepted = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        paths = [Path(place, f"file{number}") for number in range(len(FILES[name]))]

        @settings(max_examples=TRIED)
        @given(mutated(FILES[name]))
        def check(files):
            for path, content in zip(paths, files):
                path.write_bytes(content)
            try:
                found = read(*paths)
            except XmlcError as error:
                assert f"{folder}/file" in str(error)  # noqa: PT017 (what is read is compared instead)
                return
            save_repository(folder / "copy", *found)
            for one, again in zip(found, load(folder / "copy", "repository")):
                assert (one.shape, one.dtype) == (again.shape, again.dtype)
                for part in ("indptr", "indices", "data"):
                    np.testing.assert_array_equal(getattr(one, part), getattr(again, part))
            accepted.append(files)

        # compiles
        for path, content in zip(paths, FILES[name]):
            path.write_bytes(content)
        read(*paths)
        check()
    assert accepted, "else nothing was compared"
