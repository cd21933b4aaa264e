"""Mutated text files: refused with the file's name, or read as what is read again of our own copy; never a crash."""

from itertools import chain

import fuzzing
import numpy as np
import pytest

from xmlc.core.errors import XmlcError
from xmlc.data import load
from xmlc.data.formats import read_coordinates
from xmlc.data.writer import save_repository

IN_CI = 12_000

pytestmark = pytest.mark.slow
ROWS = b"1,2 0:1 3:0.5\n 1:-2e-3\n0 \n2,0 3:17.25 0:1 2:0.1000000000000000055\n4\n"
VW = b"3 | 5:0.5 word\n1,2 2.0 'tag|a x:2 x:1 |b:0.5 x\n| 5:1\n2 1 0.5 tag|\n'tag| 5:0\n"
VW_IDS = b"3 | 5:0.5 7\n1,2,1 2.0 'tag| 2:2 5:1\n | 5:1\n2 1 0.5 tag|\n'tag| 0:0 5:2\n"
FROM_5 = ROWS.replace(b"0:", b"5:")
INPUTS = {
    "repository": [
        (b"5 4 5\n" + ROWS,), (b"\xef\xbb\xbf1 2 3\r\n0 0:1\r\n\r\n",), (b"2 1 1\n0 0:1\n 0:2",), (b"0 3 2\n",),
    ],
    "repository-two-files": [
        (b"3 4\n0:1 3:0.5\n\n2:2\n", b"3 5\n4:1 0:1\n1:1\n\n"),
        (b"2 2\r\n1:3\r\n0:1\r\n\r\n", b"2 2\n0:1\n0:1 1:1"),
    ],
    "svmlight": [(ROWS,), (b"# made by hand\n1,1 1:2#tail 1:3\n 2:1 # 0:5\n#\n",)],
    "libsvm": [(FROM_5,)],
    "svmlight from 1": [(FROM_5.replace(b",0", b"").replace(b"\n0", b"\n7"),)],
    "vw": [(VW_IDS,)],
    "vw by names from 1": [(VW,), (b"1,2 | a:1 b\n2 | b c:0.25\n",)],
    "coordinates": [(b"1\n1\n3\n", b"4\n1\n2\n", b"0.5\n1\n2e0\n", b"1\n3\n3\n", b"2\n1\n2\n")],
    "any": [(b"5 4 5\n" + ROWS,), (VW_IDS,), (b"1 2 3\n0|0:1\n",)],
}  # fmt: skip
READERS = {
    "repository-two-files": lambda features, labels: load(features, "repository-two-files", labels=labels),
    "svmlight from 1": lambda path: load(path, "svmlight", zero_based=False),
    "vw by names from 1": lambda path: load(path, "vw", zero_based=False, vocabulary={}),
    "coordinates": lambda *paths: read_coordinates(paths),
    "any": load,
}


@pytest.mark.parametrize("name", INPUTS)
def test_mutated_files_are_refused_by_name_or_read_as_our_copy_of_them_is(name):
    read = READERS.get(name, lambda path: load(path, name))
    accepted = 0
    with fuzzing.folder_in_memory() as folder, fuzzing.limited_time() as still_alive:
        paths = [folder / f"file{number}" for number in range(len(INPUTS[name][0]))]
        # The inputs as they are come first; what they compile is not timed.
        for number, files in enumerate(chain(INPUTS[name], fuzzing.mutations(INPUTS[name], fuzzing.count(IN_CI)))):
            for path, content in zip(paths, files):
                path.write_bytes(content)
            if number > len(INPUTS[name]):
                still_alive()
            try:
                found = read(*paths)
            except XmlcError as error:
                assert f"{folder}/file" in str(error), files  # noqa: PT017 (what is read is compared instead)
                continue
            save_repository(folder / "copy", *found)
            for one, again in zip(found, load(folder / "copy", "repository")):
                assert one.shape == again.shape, files
                assert one.dtype == again.dtype, files
                for part in ("indptr", "indices", "data"):
                    np.testing.assert_array_equal(getattr(one, part), getattr(again, part), err_msg=str(files))
            accepted += 1
    assert accepted > 0.02 * fuzzing.count(IN_CI)  # else nothing was compared
