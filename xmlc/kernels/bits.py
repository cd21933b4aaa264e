"""Bits of words: sets of small numbers in uint64, and of float32, beyond Python's operators: kernels."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def bits_set(typing_context: Any, word: Any) -> Any:
    """Return the number of 1 bits of a uint64."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@intrinsic
def lowest_bit(typing_context: Any, word: Any) -> Any:
    """Return the place of the lowest bit that is 1, of a uint64 that is not 0."""

    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@intrinsic
def float_bits(typing_context, number):
    """Return the bits of a float32 as uint32; of positive numbers the larger has the larger."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.uint32))

    return types.uint32(types.float32), generate


@intrinsic
def bits_float(typing_context, bits):
    """Return the float32 of its bits as uint32."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float32))

    return types.float32(types.uint32), generate
