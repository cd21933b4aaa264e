"""Vectors with a fixed number of lanes: the LLVM code that intrinsics which keep their sums in registers are built of.

A compiler that does not know how many neighbouring numbers a loop takes cuts it into single ones, or into vectors as
wide as the processor's, each with another order of the sum. Here the lanes stand in the source.
"""

from __future__ import annotations

from typing import Any, SupportsFloat

from llvmlite import ir

from xmlc.kernels.float32 import fused

FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
BYTES = {FLOAT: 4, DOUBLE: 8}
HALF_EXPONENT = 0x5F3759DF  # minus half of a float32's bits: those of 1 / sqrt of it, within 4 %


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

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """Return a * b + c, each rounded once."""
        return fused(self.builder, a, b, c)

    def inverse_sqrt(self, x: Any) -> Any:
        """Return 1 / sqrt(x) of positive normal numbers, relative error below 2e-7: three Newton steps from a guess.

        A square root and a division take four times as long as these multiplications and additions.
        """
        builder = self.builder
        half_bits = builder.ashr(builder.bitcast(x, self.bits), self.integers(1))
        y = builder.bitcast(builder.sub(self.integers(HALF_EXPONENT), half_bits), self.type)
        half = builder.fmul(self.constant(0.5), x)
        for _ in range(3):
            y = builder.fmul(y, self.fma(builder.fneg(builder.fmul(half, y)), y, self.constant(1.5)))
        return y


def index_at(builder: Any, indices: Any, k: Any, kind: Any) -> Any:
    """Load the k-th of some unsigned indices, as an integer of a wider type."""
    return builder.zext(builder.load(builder.gep(indices, [k])), kind)
