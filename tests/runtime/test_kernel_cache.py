"""Compiled kernels are kept under a name that changes with every file that they are made of."""

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
