"""Two regressors at a time, in whole registers: kernels.

A feature's numbers in two regressors stand side by side, weight, weight, square, square: 16 bytes, so that a non-zero
costs one load from the node's memory, and one store, where two regressors with weights and squares apart cost four.
Four features fill a register of 16 lanes, which are the four lanes of `xmlc.kernels.sums` for both regressors at once:
sums are those of `sparse_dot` and `dot` bit for bit.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from xmlc.kernels.vectors import Vectors, index_at

SLOT = 4  # numbers of a feature
LANES = 4  # of a sum


class _Rows:
    """The code of one pair: ids (uint32), values (float32) and slots (float32, flat, 4 for each feature)."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any):
        self.builder, self.slots_wide = builder, Vectors(builder, SLOT)
        self.ids, self.values, self.slots = (
            context.make_array(signature.args[i])(context, builder, arguments[i]) for i in range(3)
        )
        self.size = self.ids.nitems

    def place(self, k: Any, offset: int) -> Any:
        """Return the address of the slot of the non-zero ``k + offset``."""
        builder = self.builder
        k = builder.add(k, ir.Constant(k.type, offset))
        return self.slots_wide.at(
            self.slots.data, builder.shl(index_at(builder, self.ids.data, k, k.type), ir.Constant(k.type, 2))
        )

    def value(self, k: Any, offset: int) -> Any:
        """Load the value of the non-zero ``k + offset``, four times."""
        return self.slots_wide.entry(self.values.data, self.builder.add(k, ir.Constant(k.type, offset)))

    def joined(self, parts: list[Any]) -> Any:
        """Put vectors of equal length, two or four of four lanes, behind one another."""
        while len(parts) > 1:
            width = parts[0].type.count
            mask = ir.Constant(ir.VectorType(ir.IntType(32), 2 * width), list(range(2 * width)))
            parts = [self.builder.shuffle_vector(a, b, mask) for a, b in zip(parts[::2], parts[1::2])]
        return parts[0]

    def quarter(self, vector: Any, number: int) -> Any:
        """Take one slot out of a vector of four."""
        mask = ir.Constant(ir.VectorType(ir.IntType(32), SLOT), [SLOT * number + lane for lane in range(SLOT)])
        return self.builder.shuffle_vector(vector, vector, mask)

    def within_slots(self, first: Any, second: Any, lanes: list[int]) -> Any:
        """Shuffle each slot of two vectors: lanes 0 to 3 are those of the first, 4 to 7 those of the second."""
        width = first.type.count
        mask = [
            slot + (lane if lane < SLOT else width + lane - SLOT) for slot in range(0, width, SLOT) for lane in lanes
        ]
        return self.builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(ir.IntType(32), width), mask))

    def repeated(self, first: Any, second: Any, width: int) -> Any:
        """Return first, second, first, second, and so on."""
        vector = ir.Constant(ir.VectorType(ir.FloatType(), width), ir.Undefined)
        for lane in range(width):
            vector = self.builder.insert_element(vector, (first, second)[lane % 2], ir.Constant(ir.IntType(32), lane))
        return vector

    def in_steps(self, start: Any, end: Any, step: int) -> Any:
        """Loop over start, start + step, ... below end."""
        return cgutils.for_range_slice(self.builder, start, end, ir.Constant(start.type, step), start.type)

    def result(self, sums: list[Any], signature: Any, context: Any) -> Any:
        """Join the lanes of a sum as (0 + 2) + (1 + 3) and return its first two numbers as a tuple."""
        builder = self.builder
        a, b, c, d = sums
        total = builder.fadd(builder.fadd(a, c), builder.fadd(b, d))
        pair = [builder.extract_element(total, ir.Constant(ir.IntType(32), lane)) for lane in range(2)]
        return context.make_tuple(builder, signature.return_type, pair)


@intrinsic
def pair_margins(typing_context, ids, values, slots):
    """Return `sparse_dot` of the values and the weights of both regressors.

    Parameters
    ----------
    ids : uint32, values : float32
        The non-zeros of one instance.
    slots : float32, flat
        Four numbers for each feature.

    Notes
    -----
    Reads 8 bytes per non-zero in order and 16 of its slot.
    """

    def generate(context, builder, signature, arguments):
        rows = _Rows(context, builder, signature, arguments)
        zero = rows.slots_wide.constant(0.0)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(LANES)]

        def add(k: Any, offset: int, total: Any) -> None:
            product = builder.fmul(rows.value(k, offset), rows.slots_wide.load(rows.place(k, offset)))
            builder.store(builder.fadd(builder.load(total), product), total)

        start, whole = ir.Constant(rows.size.type, 0), builder.and_(rows.size, ir.Constant(rows.size.type, ~3))
        with rows.in_steps(start, whole, LANES) as (k, _):
            for lane, total in enumerate(sums):
                add(k, lane, total)
        with rows.in_steps(whole, rows.size, 1) as (k, _):
            add(k, 0, sums[0])
        return rows.result([builder.load(total) for total in sums], signature, context)

    return types.UniTuple(types.float32, 2)(ids, values, slots), generate


def _updater(adaptive: bool) -> Any:
    """Make a kernel that takes a step with both regressors and returns their new margins."""

    @intrinsic
    def update(typing_context, ids, values, slots, first, second, rate):
        def generate(context, builder, signature, arguments):
            rows = _Rows(context, builder, signature, arguments)
            first, second, rate = arguments[3:]
            sums = {4: cgutils.alloca_once_value(builder, Vectors(builder, 16).constant(0.0))}

            def step(k: Any, n_slots: int, total: Any) -> None:
                """Move the weights of so many features from k on, and add to the margins."""
                wide = Vectors(builder, SLOT * n_slots)
                places = [rows.place(k, offset) for offset in range(n_slots)]
                old = rows.joined([rows.slots_wide.load(place) for place in places])
                value = rows.joined([rows.value(k, offset) for offset in range(n_slots)])
                slopes = rows.repeated(first, second, wide.width)
                if adaptive:
                    gradient = builder.fmul(slopes, value)
                    squares = builder.fadd(old, builder.fmul(gradient, gradient))
                    inverse = wide.inverse_sqrt(rows.within_slots(squares, squares, [2, 3, 2, 3]))
                    change = builder.fmul(builder.fmul(wide.broadcast(rate), gradient), inverse)
                else:
                    squares = old
                    change = builder.fmul(builder.fmul(wide.broadcast(rate), slopes), value)
                new = rows.within_slots(builder.fsub(old, change), squares, [0, 1, 6, 7])
                for number, place in enumerate(places):
                    rows.slots_wide.store(rows.quarter(new, number) if n_slots > 1 else new, place)
                builder.store(builder.fadd(builder.load(total), builder.fmul(new, value)), total)

            start, whole = ir.Constant(rows.size.type, 0), builder.and_(rows.size, ir.Constant(rows.size.type, ~3))
            with rows.in_steps(start, whole, LANES) as (k, _):
                step(k, LANES, sums[4])
            lanes = [rows.quarter(builder.load(sums[4]), number) for number in range(LANES)]
            lane_0 = cgutils.alloca_once_value(builder, lanes[0])
            with rows.in_steps(whole, rows.size, 1) as (k, _):
                step(k, 1, lane_0)
            return rows.result([builder.load(lane_0), *lanes[1:]], signature, context)

        return types.UniTuple(types.float32, 2)(ids, values, slots, first, second, rate), generate

    return update


#: Take a step of normalised adaptive gradient, or of stochastic gradient descent, with both regressors, of slopes
#: ``first`` and ``second``, at one rate (float32 each); return `dot` of the values and the new weights. A slope of 0
#: leaves a regressor as it is. Weight i moves by rate * g_i / sqrt(sum of its g_i ** 2), g_i = slope * x_i, x scaled to
#: -1 .. 1 (Ross, Mineiro and Langford, 2013, Algorithm 2), or by rate * slope * x_i. A feature must not occur twice.
#: Reads 8 bytes per non-zero in order, and reads and writes 16 of its slot.
adaptive_step, plain_step = _updater(adaptive=True), _updater(adaptive=False)
