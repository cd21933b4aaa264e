"""Updates of rows that are padded to whole vector registers: kernels of training.

Siblings are padded to 4, to 8 or to a multiple of 16, so that a row of their weights is a few whole registers and, as
the first row is aligned, whole cache lines. The padding's weights are computed like the others and thrown away.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from xmlc.kernels.float32 import HALF_EXPONENT, fused

NUMBERS_PER_LINE = 16  # float32 in a cache line of 64 bytes


@njit(cache=True, nogil=True)
def padded_size(n_siblings):
    """Return how many numbers a row of so many siblings takes."""
    if n_siblings <= 4:
        return 4
    if n_siblings <= 8:
        return 8
    return (n_siblings + 15) // 16 * 16


@njit(cache=True, nogil=True)
def aligned_room(size):
    """Return an uninitialised float32 array that starts with a cache line."""
    room = np.empty(size + NUMBERS_PER_LINE, dtype=np.float32)
    start = (-(room.ctypes.data // 4)) % NUMBERS_PER_LINE
    return room[start : start + size]


class _Vector:
    """Code for vectors of ``width`` float32, in the terms of one LLVM builder."""

    def __init__(self, builder: Any, width: int):
        self.builder, self.width = builder, width
        self.type = ir.VectorType(ir.FloatType(), width)
        self.bits = ir.VectorType(ir.IntType(32), width)

    def constant(self, number: float) -> Any:
        return ir.Constant(self.type, [float(number)] * self.width)

    def integers(self, number: int) -> Any:
        return ir.Constant(self.bits, [int(number)] * self.width)

    def broadcast(self, number: Any) -> Any:
        undefined = ir.Constant(self.type, ir.Undefined)
        single = self.builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(single, undefined, self.integers(0))

    def at(self, data: Any, place: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(data, [place]), self.type.as_pointer())

    def load(self, pointer: Any) -> Any:
        return self.builder.load(pointer, align=4)

    def store(self, value: Any, pointer: Any) -> None:
        self.builder.store(value, pointer, align=4)

    def mul(self, a: Any, b: Any) -> Any:
        return self.builder.fmul(a, b)

    def add(self, a: Any, b: Any) -> Any:
        return self.builder.fadd(a, b)

    def negative(self, a: Any) -> Any:
        return self.builder.fneg(a)

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return fused(self.builder, a, b, c)

    def inverse_sqrt(self, x: Any) -> Any:
        """The steps of `xmlc.kernels.float32.inverse_sqrt`."""
        builder = self.builder
        half_bits = builder.ashr(builder.bitcast(x, self.bits), self.integers(1))
        y = builder.bitcast(builder.sub(self.integers(int(HALF_EXPONENT)), half_bits), self.type)
        half = self.mul(self.constant(0.5), x)
        for _ in range(3):
            y = self.mul(y, self.fma(self.negative(self.mul(half, y)), y, self.constant(1.5)))
        return y


def _rows_updater(width: int) -> Any:
    """Make a kernel that adds an instance's multiples to ``width`` neighbouring columns of its features' rows.

    It takes ids (uint32), values (float32), rows (float32, flat), the row length and the first column (int64), and the
    multiples (float32, of which it uses these columns).
    """

    @intrinsic
    def update_rows(typing_context, ids, values, rows, length, column, multiples):
        def generate(context, builder, signature, arguments):
            vector = _Vector(builder, width)
            ids, values, rows, multiples = (
                context.make_array(signature.args[i])(context, builder, arguments[i]) for i in (0, 1, 2, 5)
            )
            length, column = arguments[3:5]
            multiple = vector.load(vector.at(multiples.data, column))
            with cgutils.for_range(builder, ids.nitems) as loop:
                id_ = builder.zext(builder.load(builder.gep(ids.data, [loop.index])), length.type)
                row = vector.at(rows.data, builder.add(builder.mul(id_, length), column))
                value = vector.broadcast(builder.load(builder.gep(values.data, [loop.index])))
                vector.store(vector.fma(value, multiple, vector.load(row)), row)
            return context.get_dummy_value()

        return types.void(ids, values, rows, length, column, multiples), generate

    return update_rows


def _adagrad_updater(width: int) -> Any:
    """Make a kernel for AdaGrad's step of ``width`` neighbouring columns of an instance's rows.

    It takes ids (uint32), values (float32), rows (float32, flat: weights, then sums of squares), how far one row is
    from the next, how far a row's sums are from its weights, the first column (int64), the derivatives by the scores
    (float32, of which it uses these columns), the rate and eps (float32).
    """

    @intrinsic
    def adagrad_rows(typing_context, ids, values, rows, stride, offset, column, derivatives, rate, eps):
        def generate(context, builder, signature, arguments):
            vector = _Vector(builder, width)
            ids, values, rows, derivatives = (
                context.make_array(signature.args[i])(context, builder, arguments[i]) for i in (0, 1, 2, 6)
            )
            stride, offset, column = arguments[3:6]
            rate, eps = vector.broadcast(arguments[7]), vector.broadcast(arguments[8])
            by_score = vector.load(vector.at(derivatives.data, column))
            with cgutils.for_range(builder, ids.nitems) as loop:
                id_ = builder.zext(builder.load(builder.gep(ids.data, [loop.index])), stride.type)
                place = builder.add(builder.mul(id_, stride), column)
                weights, sums = vector.at(rows.data, place), vector.at(rows.data, builder.add(place, offset))
                value = vector.broadcast(builder.load(builder.gep(values.data, [loop.index])))
                derivative = vector.mul(by_score, value)
                squares = vector.fma(derivative, derivative, vector.load(sums))
                vector.store(squares, sums)
                step = vector.negative(vector.mul(rate, derivative))
                inverse = vector.inverse_sqrt(vector.add(eps, squares))
                vector.store(vector.fma(step, inverse, vector.load(weights)), weights)
            return context.get_dummy_value()

        return types.void(ids, values, rows, stride, offset, column, derivatives, rate, eps), generate

    return adagrad_rows


update_rows_64, update_rows_16, update_rows_8, update_rows_4 = (_rows_updater(width) for width in (64, 16, 8, 4))
adagrad_rows_16, adagrad_rows_8, adagrad_rows_4 = (_adagrad_updater(width) for width in (16, 8, 4))


@njit(cache=True, nogil=True)
def add_to_rows(ids, values, multiples, rows, bias):
    """Add an instance, ``multiples[c]`` times, to the weights of each padded sibling c.

    Parameters as for `dense_scores`; a row holds the siblings' weights and nothing else.
    """
    size, column = multiples.size, 0
    for c in range(size):
        bias[c] += multiples[c]
    while column + 64 <= size:
        update_rows_64(ids, values, rows, size, column, multiples)
        column += 64
    while column + 16 <= size:
        update_rows_16(ids, values, rows, size, column, multiples)
        column += 16
    if size == 8:
        update_rows_8(ids, values, rows, size, column, multiples)
    elif size == 4:
        update_rows_4(ids, values, rows, size, column, multiples)


@njit(cache=True, nogil=True)
def adagrad_to_rows(ids, values, derivatives, rate, eps, rows, stride):
    """Take AdaGrad's step for each padded sibling.

    Row f, from ``f * stride`` on, holds the siblings' weights and then their sums of squares. Moves 16 bytes per
    non-zero and sibling.
    """
    size, column = derivatives.size, 0
    while column + 16 <= size:
        adagrad_rows_16(ids, values, rows, stride, size, column, derivatives, rate, eps)
        column += 16
    if size == 8:
        adagrad_rows_8(ids, values, rows, stride, size, column, derivatives, rate, eps)
    elif size == 4:
        adagrad_rows_4(ids, values, rows, stride, size, column, derivatives, rate, eps)
