"""LLVM code for vectors with a fixed number of lanes, for intrinsics with sums in registers.

In a loop without a fixed length, a compiler adds single numbers or vectors of the processor's
width, so the order of the sum depends on the processor. Here the source code fixes the number of
lanes.
"""

from __future__ import annotations

from typing import Any, SupportsFloat

from llvmlite import ir

from xmlc.kernels.float32 import fused

FLOAT = ir.FloatType()
DOUBLE = ir.DoubleType()
BYTES = {FLOAT: 4, DOUBLE: 8}
# HALF_EXPONENT - bits(x) / 2 are the bits of 1 / sqrt(x) in float32, within 4 %
HALF_EXPONENT = 0x5F3759DF


class Vectors:
    """A generator of code for vectors of ``width`` numbers, in an IRBuilder of llvmlite.

    ``number`` is `FLOAT` or `DOUBLE`, but `fma` and `inverse_sqrt` work only for `FLOAT`.
    """

    def __init__(self, builder: Any, width: int, number: Any = FLOAT):
        self.builder = builder
        self.width = width
        self.align = BYTES[number]
        self.type = ir.VectorType(number, width)
        self.bits = ir.VectorType(ir.IntType(32), width)

    def constant(self, number: SupportsFloat) -> Any:
        """Return a vector with a constant number in every lane."""
        return ir.Constant(self.type, [float(number)] * self.width)

    def integers(self, number: int) -> Any:
        """Return a vector with a constant 32-bit integer in every lane."""
        return ir.Constant(self.bits, [int(number)] * self.width)

    def broadcast(self, number: Any) -> Any:
        """Return a vector with ``number``, computed at run time, in every lane."""
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

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """Return a * b + c, rounded once in each lane."""
        return fused(self.builder, a, b, c)

    def inverse_sqrt(self, x: Any) -> Any:
        """Return 1 / sqrt(x) of positive normal numbers, with a relative error below 2e-7.

        It makes three Newton steps from an approximation. A square root and a division would take
        four times as long.
        """
        builder = self.builder
        half_bits = builder.ashr(builder.bitcast(x, self.bits), self.integers(1))
        y = builder.bitcast(builder.sub(self.integers(HALF_EXPONENT), half_bits), self.type)
        half = builder.fmul(self.constant(0.5), x)
        for _ in range(3):
            y = builder.fmul(
                y, self.fma(builder.fneg(builder.fmul(half, y)), y, self.constant(1.5))
            )
        return y


def index_at(builder: Any, indices: Any, k: Any, kind: Any) -> Any:
    """Load the k-th unsigned index as an integer of the wider type ``kind``."""
    return builder.zext(builder.load(builder.gep(indices, [k])), kind)
