"""Test that changed files and records are found, and that errors name the command that rebuilds
them.
"""

import json
import random

import numpy as np
import pytest
from facts import raises_with

from xmlc.core import checksums
from xmlc.core.checksums import (
    NAME,
    Damaged,
    check_content,
    checksum_of,
    content_checksum,
    listed_in,
    stamped,
    verify_file,
)
from xmlc.core.files import atomic_folder, folder_bytes
from xmlc.suite.files import write_record


@pytest.fixture
def folder(tmp_path):
    with atomic_folder(tmp_path / "data") as made:
        (made / "train").mkdir()
        np.save(made / "split.npy", np.arange(9))
        np.save(made / "train/X.npy", np.arange(100))
    return tmp_path / "data"


def test_checksum_equals_published_test_vector(tmp_path):
    # XXH3's specification has a test vector for empty input and seed 0.
    (tmp_path / "a").write_bytes(b"")
    assert checksum_of(tmp_path / "a") == "99aa06d3014798d86001c324468d497f"


def test_folder_lists_files_recursively(folder):
    listed = listed_in(folder)
    assert list(listed) == ["split.npy", "train/X.npy"]
    assert listed["split.npy"]["bytes"] == (folder / "split.npy").stat().st_size
    for file in ("split.npy", "train/X.npy"):
        verify_file(folder / file)
    assert folder_bytes(folder) == sum(entry["bytes"] for entry in listed.values())


def test_checksum_depends_on_every_bit(folder):
    file = folder / "train/X.npy"
    whole = file.read_bytes()
    for bit in random.Random(0).sample(range(8 * len(whole)), 50):
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        file.write_bytes(content)
        # Two changes in this loop may have the same time in the file system.
        checksums._checksum.cache_clear()
        with raises_with(Damaged, "train/X.npy"):
            verify_file(file)


def test_missing_truncated_and_unlisted_files_are_named(folder):
    (folder / "train/Y.npy").touch()
    (folder / "split.npy").write_bytes((folder / "split.npy").read_bytes()[:-1])
    (folder / "train/X.npy").unlink()
    for name in ("train/Y.npy", "split.npy", "train/X.npy"):
        with raises_with(Damaged, name):
            verify_file(folder / name)


def test_missing_torn_or_edited_list_is_named(folder):
    file = folder / NAME
    content = json.loads(file.read_text())
    content["files"]["split.npy"]["bytes"] += 1
    newer = json.dumps(stamped({"schema": 9, "files": {}}))
    for text in (json.dumps(content), "{", "[]", "{}", "\udcff", newer):
        file.write_text(text, errors="surrogateescape")
        checksums._listed.cache_clear()
        with raises_with(Damaged, NAME):
            verify_file(folder / "split.npy")
    file.unlink()
    checksums._listed.cache_clear()
    with raises_with(Damaged, NAME):
        verify_file(folder / "split.npy")


def test_unchanged_file_is_read_once(folder, monkeypatch):
    read = []
    monkeypatch.setattr(
        checksums, "checksum_of", lambda path: read.append(path) or checksum_of(path)
    )
    for _ in range(3):
        verify_file(folder / "split.npy")
    assert len(read) == 1
    with atomic_folder(folder) as made:
        np.save(made / "split.npy", np.arange(9))
    verify_file(folder / "split.npy")
    assert len(read) == 3, "once more when it is written, and once when it is opened"


def test_record_checksum_depends_only_on_content(tmp_path):
    content = {"b": [1, 2.5, None, True], "a": {"é": 1e-300}}
    assert content_checksum(content) == content_checksum(
        {"a": {"é": 1e-300}, "b": (1, 2.5, None, True)}
    )
    write_record(tmp_path / "r.json", content | {"n": np.float32(0.1)})
    again = json.loads((tmp_path / "r.json").read_text())
    assert list(again) == ["b", "a", "n", "checksum"]
    assert check_content(tmp_path / "r.json", again) == content | {"n": float(np.float32(0.1))}


@pytest.mark.parametrize(
    "change", [{"a": 91.87}, {"more": 1}, {"checksum": "0" * 32}, {"checksum": None}]
)
def test_an_edited_record_is_refused(tmp_path, change):
    with raises_with(Damaged, "r.json", "checksum"):
        check_content(tmp_path / "r.json", stamped({"a": 31.87, "b": 1}) | change)
    with raises_with(Damaged, "r.json", "checksum"):
        check_content(tmp_path / "r.json", {"a": 31.87})
