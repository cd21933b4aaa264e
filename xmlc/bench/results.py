"""What a benchmark measured: dataclasses, and the JSON that ``--out`` writes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
from scipy import sparse

from xmlc.data.prepared import Prepared
from xmlc.passport import Passport

T = TypeVar("T")
# Metadata of a field: its key in JSON where that is no name of Python's; that it is left out where it is None; that
# the fields of its value stand among the others.
PRECISION = {"key": "p@k"}
PRECISION_STD = {"key": "p@k_std"}
OPTIONAL = {"optional": True}
INLINE = {"inline": True}


@dataclass(frozen=True)
class Data:
    """A dataset in memory: instances and label sets to train on and to test on."""

    name: str
    X: sparse.csr_array
    Y: sparse.csr_array
    X_test: sparse.csr_array
    Y_test: sparse.csr_array

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read what `xmlc prepare` wrote.

        Raises
        ------
        XmlcError
            The folder holds no dataset.
        """
        prepared = Prepared(folder)
        return cls(prepared.meta["name"], *prepared.part("train"), *prepared.part("test"))

    @property
    def shape(self) -> list[int]:
        """Numbers of training instances, features and labels."""
        return [*self.X.shape, self.Y.shape[1]]


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What was compared, and on which machine.

    Attributes
    ----------
    dataset : str
    shape : list of int
        n, d, m.
    passport : Passport
    """

    dataset: str
    shape: list[int]
    passport: Passport


@dataclass(frozen=True, kw_only=True)
class InTurns(Compared):
    """What was compared in one process, task after task.

    Attributes
    ----------
    rounds, threads : int
        Of each task; that several threads were.
    peak_bytes : int
        Of the process.
    """

    rounds: int
    threads: int
    peak_bytes: int


def as_json(value: object) -> object:
    """Turn dataclasses, also within mappings and sequences, into what JSON knows; a ratio that is NaN is null."""
    if isinstance(value, float) and value != value:
        return None
    if is_dataclass(value):
        content: dict[str, object] = {}
        for one in fields(value):
            own = as_json(getattr(value, one.name))
            if one.metadata.get("inline") and isinstance(own, dict):
                content |= own
            elif own is not None or not one.metadata.get("optional"):
                content[one.metadata.get("key", one.name)] = own
        return content
    if isinstance(value, Mapping):
        return {key: as_json(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(own) for own in value]
    return value


def from_json(kind: type[T], content: Mapping[str, object]) -> T:
    """Make a dataclass of plain fields again from what `as_json` made of it."""
    assert is_dataclass(kind)
    return kind(**{one.name: content[one.metadata.get("key", one.name)] for one in fields(kind)})


def mean_percent(scores: Sequence[Sequence[float]]) -> list[float]:
    """Return the means over seeds of P@k, shape (seeds, k), in percent."""
    return (100 * np.mean(scores, axis=0)).tolist()


def std_percent(scores: Sequence[Sequence[float]]) -> list[float] | None:
    """Return the standard deviations over seeds of P@k, shape (seeds, k), in percent; None of one seed."""
    return (100 * np.std(scores, axis=0, ddof=1)).tolist() if len(scores) > 1 else None
