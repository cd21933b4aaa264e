"""Inference methods by name, and runs with a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.errors import InvalidParameterError, XmlcError, nearest
from xmlc.inference.distributions import LabelsBySize, as_marginals
from xmlc.inference.gfm import gfm, gfm_t
from xmlc.inference.jansche import meuf_approx, meuf_cubic
from xmlc.inference.meuf import meuf
from xmlc.inference.rules import hamming, lewis, multinomial
from xmlc.inference.samples import Samples, checked_samples, marginals_of
from xmlc.inference.sizes import gfm_sizes
from xmlc.kernels.csr import CSR, ENTRIES_PER_BLOCK, release, some_rows

Infer = Callable[..., tuple[CSR, np.ndarray]]


class Method(NamedTuple):
    """An inference method.

    Attributes
    ----------
    infer : callable
        ``infer(distribution, n_jobs=...)`` returns the label sets, boolean CSR of shape (n, m), and
        their expected F-measures according to the method, float64 of shape (n,).
    takes : {"joint", "marginals"}
        A joint distribution (`xmlc.inference.Samples`, `xmlc.inference.LabelsBySize`, or the
        marginals of independent labels), or marginals alone.
    rows_per_block : int
        Instances between two checks of the time limit by ``infer_blocks``.
    takes_sizes : bool
        Whether it needs ``size_weights`` from `xmlc.inference.fit_size_weights`.
    is_exact : bool
        Whether its sets have the highest expected F-measure, so that the loss by a minimum
        probability is bounded.

    See Also
    --------
    register, xmlc.inference.infer_blocks

    Examples
    --------
    >>> from xmlc.inference import METHODS
    >>> METHODS["gfm"].takes, METHODS["gfm"].is_exact
    ('joint', True)
    """

    infer: Infer
    takes: Literal["joint", "marginals"]
    rows_per_block: int = 4096
    takes_sizes: bool = False
    is_exact: bool = False


METHODS: dict[str, Method] = {
    "h": Method(hamming, "marginals"),
    "gfm": Method(gfm, "joint", is_exact=True),
    "gfm-t": Method(gfm_t, "joint"),
    # The paper requires t < m, and each dataset in gfm2011 has more than 5 labels
    "gfm-t-few": Method(partial(gfm_t, n_thresholds=5), "joint"),
    "meuf-approx": Method(meuf_approx, "marginals", 64),
    "meuf-cubic": Method(meuf_cubic, "marginals", 64, is_exact=True),
    "meuf": Method(meuf, "marginals", is_exact=True),
    "lewis": Method(lewis, "marginals"),
    "multinomial": Method(multinomial, "marginals"),
    "gfm-sizes": Method(gfm_sizes, "marginals", takes_sizes=True),
}


def register(
    name: str, takes: Literal["joint", "marginals"] = "marginals"
) -> Callable[[Infer], Infer]:
    """Return a decorator that registers a function, like ``infer`` of `Method`.

    Parameters
    ----------
    name : str
        New name of the method.
    takes : {"joint", "marginals"}
        As in `Method`.

    Returns
    -------
    callable

    Raises
    ------
    XmlcError
        The name is taken.

    See Also
    --------
    xmlc.inference.infer_blocks

    Examples
    --------
    >>> from xmlc.inference import METHODS, hamming, infer_blocks
    >>> from xmlc.inference.methods import register
    >>> @register("mine")
    ... def mine(marginals, n_jobs=None):
    ...     return hamming(marginals, n_jobs)
    >>> infer_blocks("mine", [[0.9, 0.4]])[0].toarray().astype(int).tolist()
    [[1, 0]]
    >>> _ = METHODS.pop("mine")
    """

    def add(infer: Infer) -> Infer:
        if name in METHODS:
            raise XmlcError(f"found a second inference method {name!r}, expected a new name")
        METHODS[name] = Method(infer, takes)
        return infer

    return add


def method_named(name: str) -> Method:
    """Return the inference method of this name, or raise an `XmlcError`."""
    if name not in METHODS:
        raise InvalidParameterError(
            f"found inference method {name!r}, expected {nearest(str(name), METHODS)}"
        )
    return METHODS[name]


def infer_blocks(
    method: str,
    distribution: object,
    n_jobs: int | None = None,
    time_limit_seconds: float | None = None,
    size_weights: np.ndarray | None = None,
) -> tuple[CSR, np.ndarray] | None:
    """Run a method block by block, and stop after a time limit.

    Table 1 of gfm2011 has the entry "-" for methods that exceeded a limit. It is checked between
    blocks, so a run exceeds it by at most one block, whose size depends only on the method and the
    data and does not change the result.

    Parameters
    ----------
    method : str
        A name in ``METHODS``.
    distribution : Samples, LabelsBySize, or marginals (sparse or ndarray, shape (n, m))
        If the method needs marginals, they are estimated from samples, within the time limit.
    n_jobs : int or None
        Number of threads.
    time_limit_seconds : float or None
        The time limit, or None.
    size_weights : ndarray of float64, shape (S,), or None
        Weights of the sizes, required if ``takes_sizes`` of the method is true.

    Returns
    -------
    (Y_hat, expected_f), or None
        None if the time limit was exceeded before the last instance was finished.

    Raises
    ------
    XmlcError
        If no method has this name, the distribution does not suit it, or size weights are missing.

    See Also
    --------
    gfm, meuf : Two of the methods.

    Examples
    --------
    >>> from xmlc.inference import infer_blocks
    >>> Y_hat, expected_f = infer_blocks("meuf", [[0.9, 0.4, 0.3], [0.2, 0.1, 0.1]])
    >>> Y_hat.toarray().astype(int).tolist()
    [[1, 0, 0], [0, 0, 0]]
    """
    chosen = method_named(method)
    if chosen.takes_sizes and size_weights is None:
        raise XmlcError(
            f"method {method}: found no size weights. Learn weights with "
            "xmlc.inference.fit_size_weights."
        )
    infer = chosen.infer
    if chosen.takes_sizes:
        infer = partial(infer, size_weights=size_weights)
    end_of_time = np.inf
    if time_limit_seconds is not None:
        end_of_time = time.monotonic() + time_limit_seconds
    distribution = _for_method(chosen, distribution)
    n = n_instances(distribution)
    rows = chosen.rows_per_block
    if isinstance(distribution, sparse.csr_array):
        rows = min(rows, ENTRIES_PER_BLOCK * n // max(distribution.nnz, 1) + 1)
    blocks: Iterable[object] = [distribution]
    if n > rows:  # slicing may copy the distribution and check it again
        blocks = (
            take_instances(distribution, slice(start, start + rows)) for start in range(0, n, rows)
        )
    sets = []
    values = []
    for block in blocks:
        Y_hat, expected_f = infer(block, n_jobs=n_jobs)
        if time.monotonic() > end_of_time:
            return None
        if isinstance(distribution, sparse.csr_array):
            release(distribution)
        sets.append(Y_hat)
        values.append(expected_f)
    joined = sparse.vstack(sets, format="csr")
    joined.has_canonical_format = True
    return joined, np.concatenate(values)


def n_instances(distribution: Any) -> int:
    """Return the number of instances of a distribution."""
    if isinstance(distribution, Samples):
        return distribution.Y.shape[0] // distribution.n_samples
    if isinstance(distribution, LabelsBySize):
        return distribution.P.shape[0]
    return distribution.shape[0]


def take_instances(distribution: Any, block: slice) -> Any:
    """Return a distribution for the instances in ``block``, a slice with step 1."""
    if isinstance(distribution, Samples):
        rows = slice(block.start * distribution.n_samples, block.stop * distribution.n_samples)
        return Samples(distribution.Y[rows], distribution.n_samples)
    if isinstance(distribution, LabelsBySize):
        return LabelsBySize(distribution.P[block], distribution.p_empty[block], distribution.sizes)
    return some_rows(distribution, block.start, min(block.stop, distribution.shape[0]))


def _for_method(method: Method, distribution: object) -> object:
    if isinstance(distribution, Samples):
        if method.takes == "joint":
            return checked_samples(distribution)
        return marginals_of(distribution)
    if isinstance(distribution, LabelsBySize):
        if method.takes == "joint":
            return distribution
        # A fixed order of the sizes, so that the marginals are bit-identical
        return as_marginals(np.minimum(sum(distribution.P.transpose(2, 0, 1)), 1.0))
    return as_marginals(distribution)
