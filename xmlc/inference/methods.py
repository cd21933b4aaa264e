"""Look up inference methods by name, and run them with a time limit."""

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
        The kind of input: a joint distribution (`xmlc.inference.Samples` or
        `xmlc.inference.LabelsBySize`), or marginals alone. A method for joint distributions also
        accepts the marginals of independent labels.
    rows_per_block : int
        Number of instances in a block. ``infer_blocks`` checks the time limit between blocks.
    takes_sizes : bool
        Whether the method also needs ``size_weights``, which `xmlc.inference.fit_size_weights`
        learns.
    is_exact : bool
        Whether the method finds the set with the highest expected F-measure. xmlc bounds the loss
        by a minimum probability only for exact methods.
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
    # 5 thresholds are fewer than the labels of each dataset in gfm2011, as the paper requires (t <
    # m).
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
    """Return a decorator that registers a function as a custom method.

    `Method.infer` describes the parameters and the result of the function.

    Raises
    ------
    XmlcError
        A method with this name exists already.
    """

    def add(infer: Infer) -> Infer:
        if name in METHODS:
            raise XmlcError(f"found a second inference method {name!r}, expected a new name")
        METHODS[name] = Method(infer, takes)
        return infer

    return add


def method_named(name: str) -> Method:
    """Return the inference method with the name ``name``.

    Raises
    ------
    XmlcError
        No method has this name.
    """
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

    Table 1 of gfm2011 has the entry "-" for methods that exceeded a time limit. The block size
    depends only on the method and the data, and does not change the result. The function checks the
    time limit between blocks, so a run exceeds the limit by at most one block.

    Parameters
    ----------
    method : str
        A name in ``METHODS``.
    distribution : Samples, LabelsBySize, or marginals (sparse or ndarray, shape (n, m))
        If the method needs marginals, the function estimates them from samples. The time for
        estimating marginals counts towards the time limit.
    n_jobs : int or None
        Number of threads.
    time_limit_seconds : float or None
        The time limit. None means no time limit.
    size_weights : ndarray of float64, shape (S,), or None
        Weights of the sizes, required if ``takes_sizes`` of the method is true.

    Returns
    -------
    (Y_hat, expected_f), or None
        None if the time limit was exceeded before the last instance was finished.

    Raises
    ------
    XmlcError
        No method has this name, the distribution does not suit the method, or size weights are
        missing.
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
    if n > rows:  # Slicing may copy the distribution and check it again.
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
    """Return the number of instances n of `Samples`, `LabelsBySize` or marginals."""
    if isinstance(distribution, Samples):
        return distribution.Y.shape[0] // distribution.n_samples
    if isinstance(distribution, LabelsBySize):
        return distribution.P.shape[0]
    return distribution.shape[0]


def take_instances(distribution: Any, block: slice) -> Any:
    """Return a distribution for only the instances in ``block``, a slice with a start, a stop and
    step 1.
    """
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
        # The sum p_i = sum_s p_is follows a fixed order of the sizes s, so that the marginals are
        # bit-identical.
        return as_marginals(np.minimum(sum(distribution.P.transpose(2, 0, 1)), 1.0))
    return as_marginals(distribution)
