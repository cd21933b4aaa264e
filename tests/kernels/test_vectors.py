"""Vectors are bit-identical in every lane to the functions of single numbers."""

import numpy as np
import pytest
from numba import njit, types
from numba.extending import intrinsic
from vector_twin import inverse_sqrt

from xmlc.kernels import float32
from xmlc.kernels.vectors import DOUBLE, Vectors


def kernel_of(width, emit, **kind):
    """Return a kernel that writes ``emit(vectors, first entry in every lane, a vector)`` to an
    array.
    """

    @intrinsic
    def compute(typing_context, numbers, index, out):
        def generate(context, builder, signature, arguments):
            vectors = Vectors(builder, width, **kind)
            numbers, out = (
                context.make_array(signature.args[i])(context, builder, arguments[i]).data
                for i in (0, 2)
            )
            first = vectors.entry(numbers, arguments[1].type(0))
            vectors.store(
                emit(vectors, first, vectors.load(vectors.at(numbers, arguments[1]))),
                vectors.at(out, arguments[1]),
            )
            return context.get_dummy_value()

        return types.void(numbers, types.int64, out), generate

    @njit
    def kernel(numbers, index, out):
        compute(numbers, index, out)

    return kernel


@njit
def fma(a, b, c):
    return float32.fma(a, b, c)


@pytest.mark.parametrize("width", [4, 8, 16])
def test_float32_lanes_equal_functions_of_single_numbers(width):
    numbers = (10 ** np.random.default_rng(width).uniform(-36, 36, 1 + width)).astype(np.float32)
    out = np.zeros_like(numbers)
    kernel_of(width, lambda vectors, first, x: vectors.inverse_sqrt(x))(numbers, 1, out)
    np.testing.assert_array_equal(out[1:], [inverse_sqrt(x) for x in numbers[1:]])
    np.testing.assert_allclose(out[1:], 1 / np.sqrt(numbers[1:].astype(np.float64)), rtol=2e-7)
    kernel_of(width, lambda vectors, first, x: vectors.fma(first, x, vectors.constant(-0.1)))(
        numbers, 1, out
    )
    np.testing.assert_array_equal(
        out[1:], [fma(numbers[0], x, np.float32(-0.1)) for x in numbers[1:]]
    )
    assert out[0] == 0


def test_float64_lanes_multiply_by_a_broadcast_entry():
    numbers = np.random.default_rng(0).normal(size=9)
    out = np.zeros(9)
    kernel_of(8, lambda vectors, first, x: vectors.builder.fmul(first, x), number=DOUBLE)(
        numbers, 1, out
    )
    np.testing.assert_array_equal(out[1:], numbers[0] * numbers[1:])
