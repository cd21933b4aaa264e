"""The memory accesses of training and prediction, and hardly anything else: kernels that measure what a machine can do.

They touch rows of siblings' weights as the solvers do, one row for each non-zero, with the arithmetic that cannot be
left out and no more: no loss, no targets, no bias, no look-up of a feature. Rows are a multiple of 16 floats and taken
16 at a time, as vectors. Nothing learns: changes are so small that numbers stay what they were, nearly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from xmlc.kernels.arrays import borrowed
from xmlc.kernels.sibling_rows import add_rows_64
from xmlc.kernels.vectors import FLOAT, Vectors, index_at
from xmlc.models.plt.training import dual_steps
from xmlc.runtime.kernel_cache import njit

LANES = 16
CHAINS = 4  # sums that do not wait for one another: an addition takes four cycles
SMALL = np.float32(-1e-6)


class _Rows:
    """The code of what every kernel here does with the arguments ids, values, rows, length, column and sums.

    Types: uint32, float32, float32 flat, int64, int64, float32; row k is ``rows[ids[k] * length + column :][:16]``.
    """

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any):
        self.builder, self.vectors = builder, Vectors(builder, LANES)
        self.ids, self.values, self.rows, self.sums = (
            context.make_array(signature.args[i])(context, builder, arguments[i]) for i in (0, 1, 2, 5)
        )
        self.length, self.column = arguments[3:5]

    def sums_at(self) -> Any:
        """Point to the 16 sums."""
        return self.vectors.at(self.sums.data, self.column)

    def row(self, k: Any) -> Any:
        """Point to the row of the k-th non-zero."""
        start = self.builder.mul(index_at(self.builder, self.ids.data, k, self.length.type), self.length)
        return self.vectors.at(self.rows.data, self.builder.add(start, self.column))

    def value(self, k: Any) -> Any:
        """Load the k-th value, 16 times."""
        return self.vectors.entry(self.values.data, k)


def _row_kernel(generate: Callable[[_Rows], None]) -> Any:
    """Make a kernel of ids, values, rows, length, column, sums."""

    @intrinsic
    def kernel(typing_context, ids, values, rows, length, column, sums):
        def code(context, builder, signature, arguments):
            generate(_Rows(context, builder, signature, arguments))
            return context.get_dummy_value()

        return types.void(ids, values, rows, length, column, sums), code

    return kernel


def _generate_sums(rows: _Rows) -> None:
    """Add all rows, times their values, to the sums."""
    builder, vectors = rows.builder, rows.vectors
    totals = [cgutils.alloca_once_value(builder, vectors.constant(0.0)) for _ in range(CHAINS)]

    def add(k: Any, total: Any) -> None:
        builder.store(vectors.fma(rows.value(k), vectors.load(rows.row(k)), builder.load(total)), total)

    size = rows.ids.nitems
    chains = ir.Constant(size.type, CHAINS)
    quads = builder.udiv(size, chains)
    with cgutils.for_range(builder, quads) as loop:
        for number, total in enumerate(totals):
            add(builder.add(builder.mul(loop.index, chains), ir.Constant(size.type, number)), total)
    with cgutils.for_range(builder, size, start=builder.mul(quads, chains)) as loop:
        add(loop.index, totals[0])
    result = vectors.load(rows.sums_at())
    for total in totals:
        result = builder.fadd(result, builder.load(total))
    vectors.store(result, rows.sums_at())


def _generate_additions(rows: _Rows) -> None:
    """Add the sums, times its value, to each row."""
    vectors = rows.vectors
    changes = vectors.load(rows.sums_at())
    with cgutils.for_range(rows.builder, rows.ids.nitems) as loop:
        row = rows.row(loop.index)
        vectors.store(vectors.fma(rows.value(loop.index), changes, vectors.load(row)), row)


def _generate_scaled_additions(rows: _Rows) -> None:
    """The same, divided by the root of 1 + the sum of squares, which stands behind the sixteen numbers of a row."""
    builder, vectors = rows.builder, rows.vectors
    changes = vectors.load(rows.sums_at())
    half_width = builder.udiv(rows.length, ir.Constant(rows.length.type, 2))
    with cgutils.for_range(builder, rows.ids.nitems) as loop:
        row = rows.row(loop.index)
        place = vectors.at(builder.bitcast(row, FLOAT.as_pointer()), half_width)
        change = builder.fmul(changes, rows.value(loop.index))
        squares = vectors.fma(change, change, vectors.load(place))
        vectors.store(squares, place)
        inverse = vectors.inverse_sqrt(builder.fadd(squares, vectors.constant(1.0)))
        vectors.store(vectors.fma(change, inverse, vectors.load(row)), row)


add_rows_in_chains, add_to_rows, add_scaled_to_rows = (
    _row_kernel(generate) for generate in (_generate_sums, _generate_additions, _generate_scaled_additions)
)


@njit(cache=True, nogil=True)
def sum_rows(ids, values, rows, length, sums):
    """Add the rows of one instance to ``sums``, each times its value; reads 4 bytes per non-zero and sibling.

    Parameters
    ----------
    ids : uint32, values : float32
        Which rows, and how often.
    rows : float32, flat
        Rows of ``length`` numbers, of which those for which there are sums are read.
    length : int
    sums : float32
        A multiple of 16.
    """
    column = 0
    if sums.size > LANES:
        while column + 64 <= sums.size:
            add_rows_64(ids, values, rows, length, column, sums, sums)
            column += 64
    while column < sums.size:
        add_rows_in_chains(ids, values, rows, length, column, sums)
        column += LANES


@njit(cache=True, nogil=True)
def read_and_write_rows(ends, ids, values, rows, sums):
    """Read the rows of each instance, then add to them, as SGD and dual coordinate descent do.

    Moves 12 bytes per non-zero and sibling, the last 8 of them in the first cache.

    Parameters
    ----------
    ends : int64, ids : uint32, values : float32
        Instances, one after the other.
    rows : float32, flat
        As many rows of siblings' weights as ids need.
    sums : float32 (siblings,)
        Scratch; a multiple of 16.
    """
    for i in range(ends.size - 1):
        row_ids, row_values = borrowed(ids, ends[i], ends[i + 1]), borrowed(values, ends[i], ends[i + 1])
        sums[:] = 0
        sum_rows(row_ids, row_values, rows, sums.size, sums)
        sums *= SMALL
        for column in range(0, sums.size, LANES):
            add_to_rows(row_ids, row_values, rows, sums.size, column, sums)


@njit(cache=True, nogil=True)
def read_and_write_squares(ends, ids, values, rows, sums):
    """Read the rows of each instance, then add to them and to their sums of squares, as AdaGrad does.

    Parameters as for `read_and_write_rows`, with rows twice as long: weights, then sums of squares. Moves 20 bytes per
    non-zero and sibling, 8 of them in the first cache.
    """
    for i in range(ends.size - 1):
        row_ids, row_values = borrowed(ids, ends[i], ends[i + 1]), borrowed(values, ends[i], ends[i + 1])
        sums[:] = 0
        sum_rows(row_ids, row_values, rows, 2 * sums.size, sums)
        sums *= SMALL
        for column in range(0, sums.size, LANES):
            add_scaled_to_rows(row_ids, row_values, rows, 2 * sums.size, column, sums)


@njit(cache=True, nogil=True)
def read_step_and_write_rows(ends, ids, values, rows, sums):
    """Read the rows of each instance, take the logistic steps of all siblings, then add to the rows.

    Parameters and accesses as for `read_and_write_rows`, with one dual variable and one target for each sibling in
    place of one for each pair with an instance.
    """
    targets, alpha, going = np.zeros(sums.size, np.uint8), np.zeros(sums.size, np.float32), np.ones(sums.size, np.bool_)
    one, largest = np.float32(1.0), np.zeros(sums.size, np.float32)
    for i in range(ends.size - 1):
        row_ids, row_values = borrowed(ids, ends[i], ends[i + 1]), borrowed(values, ends[i], ends[i + 1])
        sums[:] = 0
        sum_rows(row_ids, row_values, rows, sums.size, sums)
        dual_steps(sums, targets, alpha, going, largest, one + one, one, -one, False)
        sums *= SMALL
        for column in range(0, sums.size, LANES):
            add_to_rows(row_ids, row_values, rows, sums.size, column, sums)
