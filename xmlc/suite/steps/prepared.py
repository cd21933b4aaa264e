"""Open a prepared dataset: memory-mapped arrays, a validation split and a description."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.core.checksums import listed_in
from xmlc.core.errors import XmlcError
from xmlc.data.matrices import load_csr
from xmlc.data.synthetic import name_in_records
from xmlc.kernels.counter_random import Stream, random_permutation
from xmlc.kernels.stored import load_array, load_description

FORMAT_VERSION = 1
PARTS = ("train", "test", "fit", "val")
DataPart = tuple[sparse.csr_array, sparse.csr_array]  # A pair of the features X and the labels Y.
# The sizes of a dataset: numbers of instances, features and labels, and two averages over the
# training set.
COUNTED = ("n_train", "n_test", "d", "m", "labels_per_instance", "instances_per_label")
DESCRIBED: dict[str, type] = {"name": str, "digest": str, "split": dict, "notes": list}
DESCRIBED |= dict.fromkeys(COUNTED[:4], int)
#: The content of ``meta.json``: the version of the format, the sizes in `COUNTED`, whether `xmlc
#: synth` generated the data (``synthetic``), the SHA-256 of the source files (``digest``), the
#: share and the seed of the validation split (``split``), and notes about the data, such as
#: differences from published numbers.
Meta = dict[str, Any]


def recorded_name(meta: Meta) -> str:
    """Return the name with which records refer to a dataset.

    In folders that an earlier version prepared, synthetic data are not marked as synthetic.
    """
    return name_in_records(meta["name"], meta.get("synthetic", False))


class Prepared:
    """Read a dataset from a folder that `xmlc prepare` wrote.

    When a file is opened, an error is raised if the file was changed after the preparation.

    Parameters
    ----------
    folder : path
    run : int
        Number of the run, which determines the seed of the validation split. Run 0 uses the split
        in the folder, and every other run draws a new split. The variation of results over runs
        therefore includes the choice of the validation set.

    Attributes
    ----------
    meta : Meta
    digest : str
        SHA-256 of the source files.
    """

    def __init__(self, folder: str | Path, run: int = 0):
        self.folder = Path(folder)
        self.run = run
        file = self.folder / "meta.json"
        if not file.exists():
            raise XmlcError(
                f"{self.folder}: found no meta.json, expected a prepared dataset. Run xmlc prepare"
            )
        found = load_description(file, {"version": int})["version"]
        if found != FORMAT_VERSION:
            raise XmlcError(
                f"{self.folder}: found format version {found}, expected {FORMAT_VERSION}. Run "
                "xmlc prepare again"
            )
        self.meta: Meta = load_description(file, DESCRIBED)
        self.digest: str = self.meta["digest"]

    @cached_property
    def split(self) -> np.ndarray:
        """Return the validation split as a mask over the training instances, an array of shape
        (n_train,).

        The mask is True for an instance that models are fitted to, and False for an instance that
        is held out for validation.
        """
        if self.run == 0:
            return load_array(self.folder / "split.npy", bool, (self.meta["n_train"],), mmap=False)
        split = self.meta["split"]
        return fit_mask(self.meta["n_train"], split["validation_share"], split["seed"] + self.run)

    def part(self, name: str, most: int | None = None) -> DataPart:
        """Return the features X and the labels Y of the part ``name``.

        The parts ``train`` and ``test`` are memory-mapped. The parts ``fit`` and ``val`` are copies
        of rows of the training set. If ``most`` is given, at most ``most`` rows of ``fit`` or
        ``val`` are returned, drawn with the seed of the split.
        """
        return self._matrix(name, "X", most), self._matrix(name, "Y", most)

    def rows(self, name: str, most: int | None = None) -> np.ndarray:
        """Return the row numbers, in the training set, of the instances in the part ``fit`` or
        ``val``.
        """
        rows = np.flatnonzero(self.split == (name == "fit"))
        if most is None:
            return rows
        return sample_rows(rows, most, self.meta["split"]["seed"] + self.run)

    def posteriors(self, name: str) -> sparse.csr_array | None:
        """Return the true posteriors P(y_j = 1 | x) of a part of the dataset, or None if no
        posteriors are stored.
        """
        if "train/P.json" not in listed_in(self.folder):
            return None
        return self._matrix(name, "P")

    def left_out(self, name: str) -> sparse.csr_array | None:
        """Return the pairs of test instance and label that measures leave out, or None if there are
        no such pairs.

        The pairs are the True entries of a boolean matrix of shape (n, m). Pairs that measures
        leave out are not in the true labels Y.
        """
        if name == "test" and "test/F.json" in listed_in(self.folder):
            return load_csr(self.folder / "test", "F")
        return None

    def _matrix(self, name: str, matrix: str, most: int | None = None) -> sparse.csr_array:
        if name not in PARTS:
            raise XmlcError(f"part: found {name!r}, expected one of {', '.join(PARTS)}")
        if name in ("train", "test"):
            return load_csr(self.folder / name, matrix)
        return load_csr(self.folder / "train", matrix)[self.rows(name, most)]


def fit_mask(n_rows: int, validation_share: float, seed: int) -> np.ndarray:
    """Return a mask that is True for rows to fit models to, and False for rows that are held out
    for validation.

    The number of rows for validation is ``round(validation_share * n_rows)``. If there are at least
    two rows, each of the two parts has at least one row. The random choice of rows depends only on
    (seed, n_rows), and is the same on every platform.

    Returns
    -------
    ndarray of bool, shape (n_rows,)
        True for rows to fit models to, False for rows for validation.
    """
    if not 0 < validation_share < 1:
        raise XmlcError(
            f"validation share: found {validation_share}, expected a number between 0 and 1"
        )
    n_validation = round(validation_share * n_rows)
    if n_rows >= 2:
        n_validation = min(max(n_validation, 1), n_rows - 1)
    mask = np.ones(n_rows, dtype=bool)
    mask[random_permutation(n_rows, seed, Stream.SPLIT)[:n_validation]] = False
    return mask


def sample_rows(rows: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Return a random sample of at most ``most`` row numbers from ``rows``.

    Parameters
    ----------
    rows : ndarray of int64
    most : int
    seed : int
        The random choice depends only on (seed, number of rows, most). A smaller value of ``most``
        gives a subset of the sample.

    Returns
    -------
    ndarray of int64
        The row numbers of the sample, in the order of ``rows``.
    """
    return rows[np.sort(random_permutation(rows.size, seed, Stream.SEARCH_SAMPLE)[:most])]
