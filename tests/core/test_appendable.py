"""Test arrays that grow in memory or in a folder."""

import resource
import signal
import threading
from itertools import count

import numpy as np
import pytest
from facts import raises_with

from xmlc.core.appendable import Appendable, give_back
from xmlc.core.errors import InvalidDataError
from xmlc.suite import files

TASKS = [
    {"a": np.arange(3), "b": np.ones((2, 4), dtype=np.float32)},
    {"a": np.arange(0), "b": np.zeros((0, 4), dtype=np.float32)},
    {"a": np.arange(2000), "b": np.arange(20, dtype=np.float32).reshape(4, 5).T[:, :4]},
]


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("tasks", [TASKS, TASKS[1:2]])
def test_blocks_are_appended_in_order(tmp_path, on_disk, tasks):
    arrays = Appendable(tmp_path if on_disk else None)
    for task in tasks:
        arrays.append(**task)
    for name, array in arrays.finished().items():
        expected = np.concatenate([task[name] for task in tasks])
        np.testing.assert_array_equal(array, expected, strict=True)
        if on_disk:
            np.testing.assert_array_equal(np.load(tmp_path / f"{name}.npy"), expected)
    with raises_with(TypeError, "float64", "int64"):
        arrays.append(a=np.ones(3))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_nonfinite_weights_are_detected_when_appended(tmp_path, wrong):
    for folder in (tmp_path, None):
        arrays = Appendable(folder)
        # The array ``b`` contains no weights, so NaN is allowed.
        arrays.append(a=np.zeros(0, dtype=np.float32), b=np.array([wrong]))
        with pytest.raises(InvalidDataError):
            arrays.append(a=np.array([1, wrong, 2], dtype=np.float32))


def test_released_pages_are_read_again(tmp_path):
    expected = np.arange(10_000).reshape(-1, 2)
    np.save(tmp_path / "a.npy", expected)
    mapped = np.asarray(np.load(tmp_path / "a.npy", mmap_mode="c"))
    for part in (mapped, mapped[1000:].reshape(-1), expected[5:]):
        before = part.copy()
        give_back(part)
        assert np.array_equal(part, before)


def test_full_disk_raises_write_error(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
        arrays = Appendable(tmp_path)
        with raises_with(OSError, "File too large"):
            arrays.append(a=np.ones(6000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


def test_mapped_pages_are_released_while_block_reads(monkeypatch):
    given_back = threading.Event()
    before = threading.active_count()
    monkeypatch.setattr(files, "MOST_MAPPED", 0)
    monkeypatch.setattr(files, "mapped_bytes", count().__next__)
    monkeypatch.setattr(files, "give_back", lambda *arrays: given_back.set())
    with files.read_in_parts([np.zeros(1 + files.LARGE // 8)]):
        assert given_back.wait(600)
    assert threading.active_count() == before


def test_small_arrays_are_not_monitored():
    before = {*threading.enumerate()}
    with files.read_in_parts([np.zeros(9), np.zeros(files.LARGE // 8)]):
        for thread in {*threading.enumerate()} - before:
            thread.join(600)
            assert not thread.is_alive()


@pytest.mark.skipif(not files.mapped_bytes(), reason="the system does not count mapped bytes")
def test_mapped_bytes_count_pages_that_were_read(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(1 << 22))
    before = files.mapped_bytes()
    mapped = np.load(tmp_path / "a.npy", mmap_mode="c")
    assert mapped.sum() == 1 << 22
    assert files.mapped_bytes() - before > 1 << 24
    give_back(mapped)
    assert files.mapped_bytes() - before < 1 << 24
