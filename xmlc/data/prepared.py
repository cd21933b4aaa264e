"""A prepared dataset: memory-mapped arrays, the split, and what is known about them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.csr import load_csr
from xmlc.errors import XmlcError
from xmlc.files import read_json

FORMAT_VERSION = 1
PARTS = ("train", "test", "fit", "val")


class Prepared:
    """Reads a folder that `xmlc prepare` wrote.

    Parameters
    ----------
    folder : path

    Attributes
    ----------
    meta : dict
        Name, n_train, n_test, d, m, averages, digest, and notes on what differs from the published numbers.
    digest : str
        SHA-256 over the source files.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        if not (self.folder / "meta.json").exists():
            raise XmlcError(f"{self.folder}: no prepared dataset here (meta.json is missing); run xmlc prepare")
        self.meta: dict[str, Any] = read_json(self.folder / "meta.json")
        if self.meta["version"] != FORMAT_VERSION:
            found = self.meta["version"]
            raise XmlcError(f"{self.folder}: format version {found}, expected {FORMAT_VERSION}; prepare it anew")
        self.digest: str = self.meta["digest"]

    @cached_property
    def split(self) -> np.ndarray:
        """Mask over the training rows, shape (n_train,): True for the part to fit, False for validation."""
        return np.load(self.folder / "split.npy", allow_pickle=False)

    def part(self, name: str) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return (X, Y) of ``train``, ``test`` (memory-mapped), ``fit`` or ``val`` (copies of training rows)."""
        folder, rows = self._rows(name)
        X, Y = load_csr(folder, "X"), load_csr(folder, "Y")
        return (X, Y) if rows is None else (X[rows], Y[rows])

    def posteriors(self, name: str) -> sparse.csr_array | None:
        """Return the true posteriors P(y_j = 1 | x) of a part of a synthetic dataset; None for other datasets."""
        folder, rows = self._rows(name)
        if not (folder / "P.json").exists():
            return None
        P = load_csr(folder, "P")
        return P if rows is None else P[rows]

    def _rows(self, name: str) -> tuple[Path, np.ndarray | None]:
        if name not in PARTS:
            raise XmlcError(f"part {name!r}: expected one of {', '.join(PARTS)}")
        if name in ("train", "test"):
            return self.folder / name, None
        return self.folder / "train", np.flatnonzero(self.split == (name == "fit"))
