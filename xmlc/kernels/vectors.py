"""Vectors with a fixed number of lanes: the LLVM code that intrinsics which keep their sums in registers are built of.

A compiler that does not know how many neighbouring numbers a loop takes cuts it into single ones, or into vectors as
wide as the processor's, each with another order of the sum. Here the lanes stand in the source.
"""

from __future__ import annotations

from typing import Any, SupportsFloat

from llvmlite import ir
from numba.core import cgutils

from xmlc.kernels.float32 import EXP_TAIL, HALF_EXPONENT, LN2_HIGH, LN2_LOW, LOG2_E, SMALLEST, fused

FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
BYTES = {FLOAT: 4, DOUBLE: 8}


class Vectors:
    """Code for vectors of ``width`` numbers.

    Parameters
    ----------
    builder : llvmlite.ir.IRBuilder
        Where the code goes.
    width : int
        Number of lanes.
    number : llvmlite.ir.Type
        `FLOAT` or `DOUBLE`. `fma` and `inverse_sqrt` are for `FLOAT` alone.
    """

    def __init__(self, builder: Any, width: int, number: Any = FLOAT):
        self.builder, self.width, self.align = builder, width, BYTES[number]
        self.type, self.bits = ir.VectorType(number, width), ir.VectorType(ir.IntType(32), width)

    def constant(self, number: SupportsFloat) -> Any:
        """Return a number in every lane."""
        return ir.Constant(self.type, [float(number)] * self.width)

    def integers(self, number: int) -> Any:
        """Return a 32-bit integer in every lane."""
        return ir.Constant(self.bits, [int(number)] * self.width)

    def broadcast(self, number: Any) -> Any:
        """Put a number that the code computes into every lane."""
        undefined = ir.Constant(self.type, ir.Undefined)
        single = self.builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
        return self.builder.shuffle_vector(single, undefined, self.integers(0))

    def entry(self, data: Any, index: Any) -> Any:
        """Load ``data[index]`` into every lane."""
        return self.broadcast(self.builder.load(self.builder.gep(data, [index])))

    def at(self, data: Any, index: Any) -> Any:
        """Return the address of the vector ``data[index : index + width]``."""
        return self.builder.bitcast(self.builder.gep(data, [index]), self.type.as_pointer())

    def load(self, address: Any) -> Any:
        """Load a vector, which need not be aligned."""
        return self.builder.load(address, align=self.align)

    def store(self, vector: Any, address: Any) -> None:
        """Store a vector, which need not be aligned."""
        self.builder.store(vector, address, align=self.align)

    def nonzero_bytes(self, data: Any, index: Any) -> Any:
        """Return which of the bytes ``data[index : index + width]`` are not 0: a mask."""
        kind = ir.VectorType(ir.IntType(8), self.width)
        address = self.builder.bitcast(self.builder.gep(data, [index]), kind.as_pointer())
        return self.builder.icmp_unsigned("!=", self.builder.load(address, align=1), ir.Constant(kind, None))

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """Return a * b + c, each rounded once."""
        return fused(self.builder, a, b, c)

    def inverse_sqrt(self, x: Any) -> Any:
        """Return 1 / sqrt(x), by the steps of `xmlc.kernels.float32.inverse_sqrt`."""
        builder = self.builder
        half_bits = builder.ashr(builder.bitcast(x, self.bits), self.integers(1))
        y = builder.bitcast(builder.sub(self.integers(int(HALF_EXPONENT)), half_bits), self.type)
        half = builder.fmul(self.constant(0.5), x)
        for _ in range(3):
            y = builder.fmul(y, self.fma(builder.fneg(builder.fmul(half, y)), y, self.constant(1.5)))
        return y


def index_at(builder: Any, indices: Any, k: Any, kind: Any) -> Any:
    """Load the k-th of some unsigned indices, as an integer of a wider type."""
    return builder.zext(builder.load(builder.gep(indices, [k])), kind)


class Lanes:
    """A vector of float32 with the operators of a number, so that a formula reads as that of single numbers does.

    Parameters
    ----------
    vectors : Vectors
        Where the code goes.
    value : llvmlite.ir.Value
        A vector.
    """

    def __init__(self, vectors: Vectors, value: Any):
        self.vectors, self.value = vectors, value

    def _new(self, emit: str, *others: Any) -> Lanes:
        return Lanes(self.vectors, getattr(self.vectors.builder, emit)(self.value, *(other.value for other in others)))

    def __neg__(self) -> Lanes:
        return self._new("fneg")

    def __add__(self, other: Lanes) -> Lanes:
        return self._new("fadd", other)

    def __sub__(self, other: Lanes) -> Lanes:
        return self._new("fsub", other)

    def __mul__(self, other: Lanes) -> Lanes:
        return self._new("fmul", other)

    def __truediv__(self, other: Lanes) -> Lanes:
        return self._new("fdiv", other)

    def compared(self, how: str, other: Lanes) -> Any:
        """Return the mask of the lanes in which this is "<", "<=" and so on the other; NaN never is."""
        return self.vectors.builder.fcmp_ordered(how, self.value, other.value)

    def constant(self, number: SupportsFloat) -> Lanes:
        """Return a number in every lane."""
        return Lanes(self.vectors, self.vectors.constant(number))

    def or_else(self, mask: Any, other: Lanes) -> Lanes:
        """Return this where the mask is set, and the other elsewhere."""
        return Lanes(self.vectors, self.vectors.builder.select(mask, self.value, other.value))

    def at_least(self, other: Lanes) -> Lanes:
        """Return the larger of the two, this where they are equal: as ``max(self, other)``."""
        return other.or_else(other.compared(">", self), self)

    def called(self, name: str) -> Lanes:
        """Return a function of LLVM of one vector, "fabs" or "floor"."""
        kind = self.vectors.type
        function = cgutils.get_or_insert_function(
            self.vectors.builder.module, ir.FunctionType(kind, [kind]), f"llvm.{name}.v{self.vectors.width}f32"
        )
        return Lanes(self.vectors, self.vectors.builder.call(function, [self.value]))

    def times_plus(self, factor: Lanes, term: Lanes) -> Lanes:
        """Return self * factor + term, each rounded once."""
        return Lanes(self.vectors, self.vectors.fma(self.value, factor.value, term.value))

    def inverse_sqrt(self) -> Lanes:
        """Return 1 / sqrt, as `xmlc.kernels.float32.inverse_sqrt`."""
        return Lanes(self.vectors, self.vectors.inverse_sqrt(self.value))

    def exp_of_negative(self) -> Lanes:
        """Return exp, as `xmlc.kernels.float32.exp_of_negative`."""
        builder, integers, constant = self.vectors.builder, self.vectors.integers, self.constant
        x = self.at_least(constant(SMALLEST))
        n = x.times_plus(constant(LOG2_E), constant(0.5)).called("floor")
        r = (-n).times_plus(constant(LN2_LOW), (-n).times_plus(constant(LN2_HIGH), x))
        tail = constant(EXP_TAIL[0])
        for coefficient in EXP_TAIL[1:]:
            tail = r.times_plus(tail, constant(coefficient))
        exponent = builder.shl(builder.add(builder.fptosi(n.value, self.vectors.bits), integers(127)), integers(23))
        power = Lanes(self.vectors, builder.bitcast(exponent, self.vectors.type))
        return (constant(1.0) + (r * r).times_plus(tail, r)) * power

    def sigmoid(self) -> Lanes:
        """Return 1 / (1 + exp(-x)), as `xmlc.kernels.float32.sigmoid`."""
        e = (-self.called("fabs")).exp_of_negative()
        larger = self.constant(1.0) / (self.constant(1.0) + e)
        return larger.or_else(self.compared(">=", self.constant(0.0)), e * larger)
