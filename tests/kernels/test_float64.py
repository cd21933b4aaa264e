"""The elementary functions, compared with decimals of 60 digits over the whole range of float64."""

import inspect
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from xmlc.kernels import elementwise, float64

INF = math.inf
NAN = math.nan
SMALLEST = 5e-324
SMALLEST_NORMAL = 2.0**-1022
LARGEST = np.finfo(np.float64).max
HALF_PI = Decimal("1.57079632679489661923132169163975144209858469968755291048747229615390820314")


def decimal_cos(x):
    """Return the cosine by its Taylor series in decimals, after a reduction by whole turns."""
    x -= (x / (4 * HALF_PI)).to_integral_value() * 4 * HALF_PI
    total = Decimal(0)
    term = Decimal(1)
    k = 0
    while abs(term) > Decimal("1e-60"):
        total = total + term
        term = -term * x * x / ((k + 1) * (k + 2))
        k = k + 2
    return total


# exact functions, domains and largest errors in ulp
FUNCTIONS = {
    "exp": (Decimal.exp, -745, 709.7, 1),
    "log": (Decimal.ln, SMALLEST, LARGEST, 1),
    "log1p": (lambda x: (1 + x).ln(), -1 + 2.0**-53, LARGEST, 1.5),
    "log2": (lambda x: x.ln() / Decimal(2).ln(), SMALLEST_NORMAL, LARGEST, 0.6),
    "sigmoid": (lambda x: 1 / (1 + (-x).exp()), -708, 40, 2.5),
    "softplus": (lambda x: (1 + x.exp()).ln(), -60, 708, 2),
}


def ulps_off(found, exact):
    """Return the error of a float64 against a decimal, in units of its last place (ulp)."""
    return float(abs(Fraction(found) - Fraction(exact)) / Fraction(math.ulp(float(exact))))


def worst(kernel, exact, numbers):
    """Return the largest error over some numbers, in ulp, and the number with this error."""
    with localcontext() as context:
        context.prec = 60
        context.Emin = -100000
        context.Emax = 100000
        return max((ulps_off(kernel(*x), exact(*map(Decimal, x))), x) for x in numbers)


def spread(low, high, n, seed=0):
    """Return random numbers whose logarithms are uniform over a range."""
    return np.exp(np.random.default_rng(seed).uniform(math.log(low), math.log(high), n)).tolist()


def even(low, high, n, seed=0):
    return np.random.default_rng(seed).uniform(low, high, n).tolist()


def numbers_between(low, high):
    """Return numbers of all sizes, and numbers at which exp changes the power of two."""
    numbers = [low, *even(max(low, -1000), min(high, 1000), 1000)]
    numbers += spread(max(low, 1e-20), LARGEST, 700)
    for x in (*spread(1e-20, 1, 500), *even(0.5, 2, 1000), *even(0, 40, 500), *range(1, 200)):
        numbers += [x, -x, x * math.log(2) / 2]
    return [x for x in numbers if low <= x <= high]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_stated_accuracy(name):
    exact, low, high, bound = FUNCTIONS[name]
    numbers = [(x,) for x in numbers_between(low, high)]
    off, where = worst(getattr(float64, name), exact, numbers)
    assert off < bound, where


def test_cosine_has_stated_accuracy():
    angles = [
        *even(-7, 7, 1000),
        *even(-1e5, 1e5, 500),
        *(k * math.pi / 4 for k in range(-300, 300)),
        *spread(1e-20, 1, 500),
    ]
    with localcontext() as context:
        context.prec = 60
        off = [abs(Fraction(float64.cos(x)) - Fraction(decimal_cos(Decimal(x)))) for x in angles]
    assert max(off) < 4e-16
    assert float64.cos(0.0) == 1


def decimal_power(x, y):
    return (y * x.ln()).exp()


def test_power_has_stated_accuracy():
    rng = np.random.default_rng(0)
    pairs = []
    # These exponents spread the results over the whole range of float64.
    for x in (*numbers_between(SMALLEST_NORMAL, LARGEST)[::3], *even(0.99, 1.01, 300)):
        limit = 700 / max(abs(math.log(x)), 1e-300)
        pairs.append((x, rng.uniform(-limit, limit)))
        pairs.append((x, min(limit, rng.choice([0.5, 1.5, 2, 3, 0.55, 1.1, -0.3]))))
    off, where = worst(float64.power, decimal_power, pairs)
    assert off < 1, where


def test_power_is_exact_if_result_is_representable():
    for x in (*range(1, 200), 0.5, 0.75, 1.25):
        assert [float64.power(x, y) for y in (1, 2, 3)] == [x, x**2, x**3]
        assert float64.power(x * x, 0.5) == x


EDGES = {
    "exp": {
        0.0: 1.0,
        710.0: INF,
        1e300: INF,
        INF: INF,
        -746.0: 0.0,
        -1e300: 0.0,
        -INF: 0.0,
        SMALLEST: 1.0,
        NAN: NAN,
    },
    "log": {1.0: 0.0, 0.0: -INF, INF: INF, -SMALLEST: NAN, -INF: NAN, NAN: NAN},
    "log1p": {
        0.0: 0.0,
        SMALLEST: SMALLEST,
        -1.0: -INF,
        -1.0 - 2.0**-52: NAN,
        INF: INF,
        -INF: NAN,
        NAN: NAN,
    },
    "log2": {0.0: -INF, INF: INF, -1.0: NAN, NAN: NAN},
    "sigmoid": {0.0: 0.5, INF: 1.0, -INF: 0.0, 40.0: 1.0, -1e300: 0.0, NAN: NAN},
    "softplus": {INF: INF, -INF: 0.0, 1e300: 1e300, NAN: NAN},
}


@pytest.mark.parametrize("name", EDGES)
def test_functions_return_exact_values_at_edge_cases(name):
    for x, result in EDGES[name].items():
        assert getattr(float64, name)(x).hex() == result.hex(), x


def test_functions_of_negative_zero_equal_functions_of_zero_except_its_sign():
    assert float64.exp(-0.0) == 1
    assert float64.log(-0.0) == -INF
    assert float64.log1p(-0.0).hex() == (-0.0).hex()


@pytest.mark.parametrize(
    ("x", "powers"),
    [
        (0.0, {0.0: 1.0, 2.0: 0.0, -2.0: INF, INF: 0.0}),
        (NAN, {0.0: 1.0, 1.0: NAN}),
        (1.0, {NAN: 1.0, INF: 1.0}),
        (-2.0, {0.0: 1.0}),
        (-1.0, {2.0: NAN}),
        (INF, {0.5: INF, -0.5: 0.0, -INF: 0.0}),
        (0.5, {INF: 0.0, -INF: INF}),
        (1.0 + 2.0**-52, {1e300: INF}),
        (
            2.0,
            {
                INF: INF,
                -INF: 0.0,
                1e300: INF,
                1024.0: INF,
                1023.0: 2.0**1023,
                -1074.0: SMALLEST,
                -1080.0: 0.0,
                NAN: NAN,
            },
        ),
        (SMALLEST, {1.0: SMALLEST, 1e-300: 1.0}),
        (LARGEST, {1.0: LARGEST}),
        (7.0, {SMALLEST: 1.0}),
    ],
)
def test_power_returns_exact_values_at_edge_cases(x, powers):
    for y, result in powers.items():
        assert float64.power(x, y).hex() == result.hex(), y


def test_subnormal_results_have_errors_below_1_ulp():
    exponents = even(-745.1, -708.4, 500)
    assert worst(float64.exp, Decimal.exp, [(y,) for y in exponents])[0] < 1
    pairs = [(0.3, y / math.log(0.3)) for y in exponents]
    assert worst(float64.power, decimal_power, pairs)[0] < 1


def test_logarithms_of_powers_of_two_are_exact():
    exponents = range(-1074, 1024)
    assert [float64.log2(math.ldexp(1.0, k)) for k in exponents] == list(exponents)


@pytest.mark.parametrize("name", ["exp", "log", "log2", "sigmoid"])
def test_arrays_and_single_numbers_give_bit_identical_results(name):
    """Numba may compile a loop over an array to vector instructions."""
    x = np.array([*numbers_between(*FUNCTIONS[name][1:3])[:1003], 0.0, INF, -INF])
    single = np.array([getattr(float64, name)(v) for v in x])
    found = getattr(elementwise, name)(np.append(x, NAN))
    np.testing.assert_array_equal(found[:-1].view(np.int64), single.view(np.int64))
    assert np.isnan(found[-1])


def test_elementwise_functions_accept_any_shape_and_type():
    x = np.arange(1, 13, dtype=np.float32).reshape(3, 4)[:, ::2]
    found = elementwise.power(x, 1.5)
    assert found.shape == (3, 2)
    assert found.dtype == np.float64
    assert found.ravel().tolist() == [float64.power(float(v), 1.5) for v in x.ravel()]
    assert elementwise.log(2).shape == ()
    assert elementwise.exp(np.empty((0, 3))).shape == (0, 3)
    assert elementwise.log2([1, 8]).tolist() == [0, 3]


def test_every_kernel_sets_fastmath_to_false():
    """Numba applies the first caller's flags to a kernel without its own flags."""
    kernels = [value for value in vars(float64).values() if hasattr(value, "targetoptions")]
    assert len(kernels) > 10
    assert all(kernel.targetoptions["fastmath"] is False for kernel in kernels)


@pytest.mark.parametrize("name", ["power", "cos", "sigmoid", "log1p"])
def test_compiled_kernels_have_no_fast_math_and_no_c_library_calls(name):
    """LLVM may neither reorder nor fuse the operations."""
    kernel = getattr(float64, name)
    # a cached kernel has no LLVM code
    compiled = type(kernel)(kernel.py_func, targetoptions=kernel.targetoptions)
    compiled(*([0.3] * len(inspect.signature(kernel.py_func).parameters)))
    for code in compiled.inspect_llvm().values():
        assert "fmul double" in code
        for text in (" reassoc", " contract", " fast ", "@llvm.fma", "@exp(", "@pow(", "@log"):
            assert text not in code
