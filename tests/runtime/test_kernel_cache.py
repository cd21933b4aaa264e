"""Compiled kernels are kept under a name that changes with every file that they are made of."""

import os
import subprocess
import sys

import pytest

from xmlc.runtime import kernel_cache


@pytest.mark.parametrize(
    ("name", "counts"),
    [("models/_grow.py", True), ("models/_arrays.py", True), ("kernels/streams.py", True), ("records/costs.py", False)],
)
def test_the_digest_changes_with_kernels_and_their_constants(name, counts, tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "PACKAGE", tmp_path)
    for file in ("models/_grow.py", "models/_arrays.py", "kernels/streams.py", "records/costs.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("A = 1\n")
    (tmp_path / "models/_grow.py").write_text("from numba import njit\nA = 1\n")
    (tmp_path / "models/_arrays.py").write_text("from typing import NamedTuple\nA = 1\n")
    before = kernel_cache.kernel_digest()
    (tmp_path / name).write_text((tmp_path / name).read_text() + "B = 2\n")
    assert (kernel_cache.kernel_digest() != before) is counts


def test_kernels_are_kept_for_the_user_where_the_package_cannot_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "PACKAGE", tmp_path / "package")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES"):
        monkeypatch.setenv(name, "")  # so that it is put back afterwards
        monkeypatch.delenv(name)
    (tmp_path / "package").touch()
    kernel_cache.use_kernel_cache()
    assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path / f"cache/xmlc/kernels-{kernel_cache.kernel_digest()}")
    assert os.environ["NUMBA_CACHE_LOCATOR_CLASSES"] == kernel_cache.LOCATORS


def test_kernels_of_other_versions_are_removed_when_a_new_one_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "PACKAGE", tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_LOCATOR_CLASSES", "")
    for text in ("A = 1", "A = 2"):
        monkeypatch.setenv("NUMBA_CACHE_DIR", "")
        monkeypatch.delenv("NUMBA_CACHE_DIR")
        (tmp_path / "grow.py").write_text(f"from numba import njit\n{text}\n")
        kernel_cache.use_kernel_cache()
        assert [str(folder) for folder in (tmp_path / "__pycache__").iterdir()] == [os.environ["NUMBA_CACHE_DIR"]]


@pytest.mark.parametrize("given", ["", "here"])
def test_a_folder_of_the_users_choice_is_taken(given, tmp_path):
    """Numba finds a place for a cached kernel also where none is given."""
    code = """
from xmlc.runtime.kernel_cache import use_kernel_cache
use_kernel_cache()
from xmlc.kernels.counter_random import random_unit
print(type(random_unit._cache._cache_file).__name__, random_unit._cache.cache_path)
"""
    given = given and str(tmp_path / given)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_LOCATOR_CLASSES"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment | {"NUMBA_CACHE_DIR": given}, capture_output=True, text=True)
    kind, place = done.stdout.split()
    assert kind == "Entries"
    assert place == f"{given}/kernels" if given else place.endswith("xmlc/kernels/__pycache__")
