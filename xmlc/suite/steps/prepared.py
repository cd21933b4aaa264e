"""A prepared dataset: memory-mapped arrays, a validation split and a description."""

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
DataPart = tuple[sparse.csr_array, sparse.csr_array]  # features X and labels Y
# Numbers of instances, features and labels, and two averages over the training set
COUNTED = ("n_train", "n_test", "d", "m", "labels_per_instance", "instances_per_label")
DESCRIBED: dict[str, type] = {"name": str, "digest": str, "split": dict, "notes": list}
DESCRIBED |= dict.fromkeys(COUNTED[:4], int)
#: The content of ``meta.json``: version of the format, sizes in `COUNTED`, whether `xmlc synth`
#: generated the data (``synthetic``), SHA-256 of the source files (``digest``), share and seed of
#: the validation split (``split``), and notes, such as differences from published numbers
Meta = dict[str, Any]


def recorded_name(meta: Meta) -> str:
    """Return the name with which records refer to a dataset.

    Folders of an earlier version do not mark synthetic data.
    """
    return name_in_records(meta["name"], meta.get("synthetic", False))


class Prepared:
    r"""A dataset in a folder that `xmlc prepare` wrote, whose files must not have changed since.

    Run 0 uses the validation split in the folder, and every other run draws one with its own seed,
    so that the variation of results over runs includes this choice.

    Parameters
    ----------
    folder : str or Path
    run : int

    Attributes
    ----------
    meta : dict
        Content of ``meta.json``.
    digest : str
        SHA-256 of the source files.
    split : ndarray of bool, shape (n_train,)
        The instances to fit models to.

    See Also
    --------
    xmlc.data.load : Reads a file that is not prepared.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from xmlc.suite.config.catalogue import Dataset
    >>> from xmlc.suite.steps.prepare import prepare
    >>> from xmlc.suite.steps.prepared import Prepared
    >>> folder = Path(tempfile.mkdtemp())
    >>> for part in ("train.txt", "test.txt"):
    ...     _ = (folder / part).write_text("3 2 2\n0 0:1\n1 1:1\n0,1 0:1 1:1\n")
    >>> _ = prepare(Dataset("mine"), folder, folder / "data")
    >>> data = Prepared(folder / "data")
    >>> data.rows("fit").size, data.part("test")[1].shape
    (2, (3, 2))
    >>> data.posteriors("test"), data.left_out("test")
    (None, None)
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
        """Return a mask, of shape (n_train,), of the instances to fit models to."""
        if self.run == 0:
            return load_array(self.folder / "split.npy", bool, (self.meta["n_train"],), mmap=False)
        split = self.meta["split"]
        return fit_mask(self.meta["n_train"], split["validation_share"], split["seed"] + self.run)

    def part(self, name: str, most: int | None = None) -> DataPart:
        """Return the features and the labels of a part.

        Parameters
        ----------
        name : {"train", "test", "fit", "val"}
            "train" and "test" are memory-mapped, "fit" and "val" copies of training rows.
        most : int, optional
            Largest number of rows of "fit" or "val", drawn with the seed of the split.

        Returns
        -------
        X : csr_array of float32, shape (n, d)
        Y : csr_array of bool, shape (n, m)

        Raises
        ------
        XmlcError
            A file is missing or damaged, or ``name`` is unknown.
        """
        return self._matrix(name, "X", most), self._matrix(name, "Y", most)

    def rows(self, name: str, most: int | None = None) -> np.ndarray:
        """Return the numbers of the training rows of a part.

        Parameters
        ----------
        name : {"fit", "val"}
        most : int, optional
            As for `part`.

        Returns
        -------
        ndarray of int64, shape (n,)

        Raises
        ------
        XmlcError
            A file is missing or damaged.
        """
        rows = np.flatnonzero(self.split == (name == "fit"))
        if most is None:
            return rows
        return sample_rows(rows, most, self.meta["split"]["seed"] + self.run)

    def posteriors(self, name: str) -> sparse.csr_array | None:
        """Return the true posteriors P(y_j = 1 | x) of a part.

        Parameters
        ----------
        name : {"train", "test", "fit", "val"}

        Returns
        -------
        csr_array of float32, shape (n, m), or None

        Raises
        ------
        XmlcError
            As for `part`.

        See Also
        --------
        xmlc.data.synthetic.labels.SyntheticModel
        """
        if "train/P.json" not in listed_in(self.folder):
            return None
        return self._matrix(name, "P")

    def left_out(self, name: str) -> sparse.csr_array | None:
        """Return the pairs of test instance and label that measures leave out.

        Parameters
        ----------
        name : {"train", "test", "fit", "val"}

        Returns
        -------
        csr_array of bool, shape (n, m), or None
            The true labels Y lack its entries.

        Raises
        ------
        XmlcError
            As for `part`.
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
    """Return a mask of the rows to fit models to, whose other rows are held out for validation.

    There are ``round(validation_share * n_rows)`` of these, but both parts have a row if ``n_rows``
    is at least two. The choice depends only on (seed, n_rows), on every platform.
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
    """Return a random sample of at most ``most`` row numbers, in the order of ``rows``.

    The choice depends only on (seed, number of rows, most), and a smaller ``most`` gives a subset.
    """
    return rows[np.sort(random_permutation(rows.size, seed, Stream.SEARCH_SAMPLE)[:most])]
