"""Kernels that train two regressors at a time, in whole vector registers.

The four numbers of a feature, two weights and then two sums of squared gradients, form a slot of 16
adjacent bytes. This costs one load and one store per non-zero instead of four. The slots of four
features fill a register of 16 lanes, the four lanes of `xmlc.kernels.sums` for both regressors, so
results are bit-identical to `sparse_dot` and `dot`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from xmlc.kernels.vectors import Vectors, index_at

SLOT = 4  # float32 values in a slot
SUM_LANES = 4


def picked(builder: Any, a: Any, b: Any, lanes: list[int]) -> Any:
    """Return these lanes of ``a`` and ``b``, with those of ``b`` numbered after those of ``a``."""
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
    return builder.shuffle_vector(a, b, mask)


def joined(builder: Any, parts: list[Any]) -> Any:
    while len(parts) > 1:
        lanes = list(range(2 * parts[0].type.count))
        parts = [picked(builder, a, b, lanes) for a, b in zip(parts[::2], parts[1::2])]
    return parts[0]


def slot_of(builder: Any, vector: Any, number: int) -> Any:
    return picked(builder, vector, vector, list(range(SLOT * number, SLOT * (number + 1))))


class PairStep(NamedTuple):
    """One step of a ``step`` kind, "none", "plain" or "adaptive", in compiler code.

    ``ids`` and ``values`` are arrays of numba, ``table`` points to the first slot, and ``slopes``
    is a vector for both regressors.
    """

    builder: Any
    step: str
    ids: Any
    values: Any
    table: Any
    slopes: Any
    rate: Any

    def advance(self, k: Any, n: int, total: Any) -> None:
        """Make the step for non-zeros k .. k + n - 1, and add their new products to ``total``."""
        builder = self.builder
        kind = self.ids.nitems.type
        slot = Vectors(builder, SLOT)
        few = Vectors(builder, n)
        places = []
        for i in range(n):
            number = index_at(builder, self.ids.data, builder.add(k, kind(i)), kind)
            places.append(builder.gep(self.table, [number]))
        old = joined(builder, [slot.load(place) for place in places])
        own = few.load(few.at(self.values.data, k))
        value = picked(builder, own, own, [lane // SLOT for lane in range(SLOT * n)])
        new = old
        if self.step != "none":
            new = self.changed(old, value)
            for i, place in enumerate(places):
                slot.store(slot_of(builder, new, i), place)
        builder.store(builder.fadd(builder.load(total), builder.fmul(new, value)), total)

    def changed(self, old: Any, value: Any) -> Any:
        """Return slots after the step, for the feature's value in each lane."""
        builder = self.builder
        wide = Vectors(builder, old.type.count)
        lanes = range(wide.width)
        slope = picked(builder, self.slopes, self.slopes, [lane % 2 for lane in lanes])
        rate = wide.broadcast(self.rate)
        squares = old
        if self.step == "adaptive":
            gradient = builder.fmul(slope, value)
            squares = builder.fadd(old, builder.fmul(gradient, gradient))
            inverse = wide.inverse_sqrt(
                picked(builder, squares, squares, [lane | 2 for lane in lanes])
            )
            change = builder.fmul(builder.fmul(rate, gradient), inverse)
        else:
            change = builder.fmul(builder.fmul(rate, slope), value)
        weights_then_squares = [lane + (lane & 2) // 2 * wide.width for lane in lanes]
        return picked(builder, builder.fsub(old, change), squares, weights_then_squares)


def _pair_kernel(step: Literal["none", "plain", "adaptive"]) -> Any:
    """Return a kernel that makes one step of both regressors, and returns `dot` of the values and
    the new weights.

    ``ids``, uint32, has each feature at most once, ``slots`` is float32 and updated, and ``first``
    and ``second`` are the slopes of the loss with respect to the regressors' margins.
    """

    @intrinsic
    def kernel(typing_context, ids, values, slots, first, second, rate):
        def generate(context, builder, signature, arguments):
            arrays = []
            for i in range(3):
                array = context.make_array(signature.args[i])
                arrays.append(array(context, builder, arguments[i]))
            ids, values, slots = arrays
            kind = ids.nitems.type
            table = builder.bitcast(slots.data, Vectors(builder, SLOT).type.as_pointer())
            slopes = Vectors(builder, 2).constant(0.0)
            for side in range(2):
                slopes = builder.insert_element(slopes, arguments[3 + side], ir.IntType(32)(side))
            code = PairStep(builder, step, ids, values, table, slopes, arguments[5])
            zeros = Vectors(builder, SLOT * SUM_LANES).constant(0.0)
            sums = cgutils.alloca_once_value(builder, zeros)
            whole = builder.and_(ids.nitems, kind(~3))
            with cgutils.for_range_slice(builder, kind(0), whole, kind(SUM_LANES), kind) as (k, _):
                code.advance(k, SUM_LANES, sums)
            of_lanes = builder.load(sums)
            a, b, c, d = (slot_of(builder, of_lanes, lane) for lane in range(SUM_LANES))
            rest = cgutils.alloca_once_value(builder, a)
            with cgutils.for_range_slice(builder, whole, ids.nitems, kind(1), kind) as (k, _):
                code.advance(k, 1, rest)
            total = builder.fadd(builder.fadd(builder.load(rest), c), builder.fadd(b, d))
            margins = [builder.extract_element(total, ir.IntType(32)(side)) for side in range(2)]
            return context.make_tuple(builder, signature.return_type, margins)

        return types.UniTuple(types.float32, 2)(ids, values, slots, first, second, rate), generate

    return kernel


#: ``no_step`` only returns the margins. With g_i = slope * x_i, ``adaptive_step`` subtracts rate *
#: g_i / sqrt(sum of g_i ** 2 over all steps) from weight i, for x scaled to -1 .. 1 (Ross, Mineiro
#: and Langford, 2013, Algorithm 2), and ``plain_step`` rate * g_i. A slope of 0 changes nothing.
no_step = _pair_kernel("none")
adaptive_step = _pair_kernel("adaptive")
plain_step = _pair_kernel("plain")
