"""Test that the description of a dataset's files changes with their content."""

import os

from xmlc.core.files import atomic_folder
from xmlc.suite.provenance.data import contents


def test_replacement_with_older_time_gets_new_checksum(tmp_path):
    with atomic_folder(tmp_path / "data") as folder:
        (folder / "train.txt").write_text("one")
    file = tmp_path / "data/train.txt"
    listed = contents(tmp_path / "data")
    file.write_text("two")
    os.utime(file, (1, 1))
    assert contents(tmp_path / "data") != listed
    file.write_text("one")
    assert contents(tmp_path / "data") == listed
