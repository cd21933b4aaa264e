"""What is compared: pieces of work, each of which gives arrays, by groups that share kernels.

A piece has the name of the estimator, method or function that it is about, so that a difference names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import NamedTuple, NotRequired, TypedDict

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.samebits.processors import Features
from xmlc.tables.fingerprint import Fingerprint, of_array, of_parts

# Modules of this package; a group runs in one process, which compiles what its pieces need once.
GROUPS = ("trees", "forests", "online", "linear", "label_sets", "numbers")


class Data(NamedTuple):
    """A small dataset.

    Attributes
    ----------
    X, Y : csr_array of float32, shape (n, d); of bool, shape (n, m)
        To train with.
    X_test, Y_test : csr_array
        To predict and to score.
    P_test : csr_array of float32, shape (n_test, m)
        Estimates for the test instances: true posteriors, or what a model estimates.
    """

    X: sparse.csr_array
    Y: sparse.csr_array
    X_test: sparse.csr_array
    Y_test: sparse.csr_array
    P_test: sparse.csr_array


Parts = Mapping[str, object]  # what a piece gives, see `digest_of`
Run = Callable[[Data], Parts]


class Piece(TypedDict):
    """What is kept of a piece, as JSON too.

    Attributes
    ----------
    word : str
        Over all parts.
    parts : dict of str
        Digest of each part.
    seconds : float
        That it took, if it was timed.
    """

    word: str
    parts: dict[str, str]
    seconds: NotRequired[float]


class Processed(TypedDict):
    """What was computed as for one processor, as JSON too.

    Attributes
    ----------
    features : Features
        What the processes took the processor for.
    pieces : dict of Piece
        By name.
    """

    features: Features
    pieces: dict[str, Piece]


def pieces_of(group: str) -> Mapping[str, Run]:
    """Return the pieces of one group by name.

    Raises
    ------
    XmlcError
        There is no such group.
    """
    if group not in GROUPS:
        raise XmlcError(f"group {group!r} of pieces is unknown; expected one of {', '.join(GROUPS)}")
    pieces: Mapping[str, Run] = import_module(f"xmlc.samebits.{group}").PIECES
    return pieces


def digest_of(result: Parts) -> Fingerprint:
    """Return the fingerprint of what a piece gives: arrays, sparse arrays, numbers, and sequences and dicts of them."""
    return of_parts({name: _part(value) for name, value in result.items()})


def _part(value: object) -> Fingerprint:
    if isinstance(value, Fingerprint):
        return value
    if isinstance(value, Mapping):
        return digest_of(value)
    if isinstance(value, sparse.csr_array):
        return digest_of({"indptr": value.indptr, "indices": value.indices, "data": value.data})
    if isinstance(value, np.ndarray):
        return of_array(value)
    if isinstance(value, tuple | list) and any(not isinstance(one, int | float) for one in value):
        return digest_of({str(i): one for i, one in enumerate(value)})
    return of_array(np.asarray(value))


def differing_parts(one: Piece, other: Piece) -> Iterator[str]:
    """Yield the names of the parts that differ between two results of a piece, or that only one of them has."""
    for name in sorted({*one["parts"], *other["parts"]}):
        if one["parts"].get(name) != other["parts"].get(name):
            yield name
