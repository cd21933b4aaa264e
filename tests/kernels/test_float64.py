"""The elementary functions, compared with decimals of 60 digits over the whole range of float64."""

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


EXACT = {
    "exp": Decimal.exp,
    "log": Decimal.ln,
    "log1p": lambda x: (1 + x).ln(),
    "log2": lambda x: x.ln() / Decimal(2).ln(),
    "sigmoid": lambda x: 1 / (1 + (-x).exp()),
    "softplus": lambda x: (1 + x.exp()).ln(),
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


def both_signs(numbers):
    return [*numbers, *(-x for x in numbers)]


def even(low, high, n, seed=0):
    return np.random.default_rng(seed).uniform(low, high, n).tolist()


SMALL = spread(1e-20, 1, 500)
# at these numbers, exp changes the power of two
HALF_STEPS = [k * math.log(2) / 2 for k in range(-200, 200)]
NUMBERS = {
    "exp": [*even(-745, 709.7, 1500), *both_signs(SMALL), *HALF_STEPS],
    "log": [
        *spread(SMALLEST_NORMAL, LARGEST, 1000),
        *even(0.5, 2, 1500),
        *(n * SMALLEST for n in (1, 2, 3, 12345)),
    ],
    "log1p": [
        *even(-0.999, 3, 1500),
        *both_signs(spread(1e-20, 0.9, 700)),
        *spread(1, LARGEST, 300),
        -1 + 2.0**-53,
    ],
    "log2": [*spread(SMALLEST_NORMAL, LARGEST, 700), *even(0.5, 2, 1500), *range(2, 400)],
    "sigmoid": [*even(-708, 40, 1000), *even(-3, 3, 1000), *both_signs(SMALL)],
    "softplus": [
        *even(-60, 708, 500),
        *even(-40, 40, 1000),
        *even(-3, 3, 1000),
        *both_signs(SMALL),
    ],
}
BOUNDS = {"exp": 1, "log": 1, "log1p": 1.5, "log2": 0.6, "sigmoid": 2.5, "softplus": 2}


@pytest.mark.parametrize("name", EXACT)
def test_functions_have_stated_accuracy(name):
    off, where = worst(getattr(float64, name), EXACT[name], [(x,) for x in NUMBERS[name]])
    assert off < BOUNDS[name], where


def test_cosine_has_stated_accuracy():
    angles = [
        *even(-7, 7, 1000),
        *even(-1e5, 1e5, 500),
        *(k * math.pi / 4 for k in range(-300, 300)),
        *SMALL,
    ]
    with localcontext() as context:
        context.prec = 60
        off = [abs(Fraction(float64.cos(x)) - Fraction(decimal_cos(Decimal(x)))) for x in angles]
    assert max(off) < 4e-16
    assert float64.cos(0.0) == 1


def test_power_has_stated_accuracy():
    rng = np.random.default_rng(0)
    bases = [
        *spread(SMALLEST_NORMAL, LARGEST, 700),
        *even(0, 1, 700),
        *even(0.99, 1.01, 300),
        *even(1, 1e4, 300),
    ]
    pairs = []
    for x in bases:  # These exponents spread the results over the whole range of float64.
        limit = 700 / max(abs(math.log(x)), 1e-300)
        pairs += [
            (x, rng.uniform(-limit, limit)),
            (x, min(limit, rng.choice([0.5, 1.5, 2, 3, 0.55, 1.1, -0.3]))),
        ]
    off, where = worst(float64.power, lambda x, y: (y * x.ln()).exp(), pairs)
    assert off < 1, where


def test_power_is_exact_if_result_is_representable():
    for x in (*range(1, 200), 0.5, 0.75, 1.25):
        assert [float64.power(x, y) for y in (1, 2, 3)] == [x, x**2, x**3]
        assert float64.power(x * x, 0.5) == x


@pytest.mark.parametrize(
    ("name", "x", "result"),
    [
        ("exp", 0.0, 1.0),
        ("exp", -0.0, 1.0),
        ("exp", 710.0, INF),
        ("exp", 1e300, INF),
        ("exp", INF, INF),
        ("exp", -746.0, 0.0),
        ("exp", -1e300, 0.0),
        ("exp", -INF, 0.0),
        ("exp", SMALLEST, 1.0),
        ("exp", NAN, NAN),
        ("log", 1.0, 0.0),
        ("log", 0.0, -INF),
        ("log", -0.0, -INF),
        ("log", INF, INF),
        ("log", -SMALLEST, NAN),
        ("log", -INF, NAN),
        ("log", NAN, NAN),
        ("log1p", 0.0, 0.0),
        ("log1p", -0.0, -0.0),
        ("log1p", SMALLEST, SMALLEST),
        ("log1p", -1.0, -INF),
        ("log1p", -1.0 - 2.0**-52, NAN),
        ("log1p", INF, INF),
        ("log1p", -INF, NAN),
        ("log1p", NAN, NAN),
        ("log2", 0.0, -INF),
        ("log2", INF, INF),
        ("log2", -1.0, NAN),
        ("log2", NAN, NAN),
        ("sigmoid", 0.0, 0.5),
        ("sigmoid", INF, 1.0),
        ("sigmoid", -INF, 0.0),
        ("sigmoid", 40.0, 1.0),
        ("sigmoid", -1e300, 0.0),
        ("sigmoid", NAN, NAN),
        ("softplus", INF, INF),
        ("softplus", -INF, 0.0),
        ("softplus", 1e300, 1e300),
        ("softplus", NAN, NAN),
    ],
)
def test_functions_return_exact_values_at_edge_cases(name, x, result):
    found = getattr(float64, name)(x)
    assert (math.isnan(found) and math.isnan(result)) or found.hex() == result.hex()


@pytest.mark.parametrize(
    ("x", "y", "result"),
    [
        (0.0, 0.0, 1.0),
        (NAN, 0.0, 1.0),
        (1.0, NAN, 1.0),
        (1.0, INF, 1.0),
        (-2.0, 0.0, 1.0),
        (0.0, 2.0, 0.0),
        (0.0, -2.0, INF),
        (0.0, INF, 0.0),
        (INF, 0.5, INF),
        (INF, -0.5, 0.0),
        (INF, -INF, 0.0),
        (0.5, INF, 0.0),
        (0.5, -INF, INF),
        (2.0, INF, INF),
        (2.0, -INF, 0.0),
        (1.0 + 2.0**-52, 1e300, INF),
        (2.0, 1e300, INF),
        (2.0, 1024.0, INF),
        (2.0, 1023.0, 2.0**1023),
        (2.0, -1074.0, SMALLEST),
        (2.0, -1080.0, 0.0),
        (SMALLEST, 1.0, SMALLEST),
        (LARGEST, 1.0, LARGEST),
        (SMALLEST, 1e-300, 1.0),
        (7.0, SMALLEST, 1.0),
        (-1.0, 2.0, NAN),
        (NAN, 1.0, NAN),
        (2.0, NAN, NAN),
    ],
)
def test_power_returns_exact_values_at_edge_cases(x, y, result):
    found = float64.power(x, y)
    assert (math.isnan(found) and math.isnan(result)) or found.hex() == result.hex()


def test_subnormal_results_have_errors_below_1_ulp():
    numbers = [(x,) for x in even(-745.1, -708.4, 500)]
    assert worst(float64.exp, Decimal.exp, numbers)[0] < 1
    assert (
        worst(
            float64.power,
            lambda x, y: (y * x.ln()).exp(),
            [(0.3, x[0] / math.log(0.3)) for x in numbers],
        )[0]
        < 1
    )


def test_logarithms_of_powers_of_two_are_exact():
    exponents = range(-1074, 1024)
    assert [float64.log2(math.ldexp(1.0, k)) for k in exponents] == list(exponents)


@pytest.mark.parametrize("name", ["exp", "log", "log2", "sigmoid"])
def test_arrays_and_single_numbers_give_bit_identical_results(name):
    """Numba may compile a loop over an array to vector instructions."""
    x = np.array([*NUMBERS[name][:1003], 0.0, INF, -INF, NAN])
    single = np.array([getattr(float64, name)(v) for v in x])
    found = getattr(elementwise, name)(x)
    np.testing.assert_array_equal(
        found.view(np.int64)[~np.isnan(x)], single.view(np.int64)[~np.isnan(x)]
    )
    assert np.isnan(found[np.isnan(x)]).all()


def test_elementwise_functions_accept_any_shape_and_type():
    x = np.arange(1, 13, dtype=np.float32).reshape(3, 4)[:, ::2]
    found = elementwise.power(x, 1.5)
    assert found.shape == (3, 2)
    assert found.dtype == np.float64
    expected = [float64.power(float(v), 1.5) for v in x.ravel()]
    np.testing.assert_array_equal(found.ravel(), expected)
    assert elementwise.log(2).shape == ()
    assert elementwise.exp(np.empty((0, 3))).shape == (0, 3)
    assert elementwise.log2([1, 8]).tolist() == [0, 3]


def test_every_kernel_sets_fastmath_to_false():
    """Numba applies the first caller's flags to a kernel without its own flags."""
    kernels = [value for value in vars(float64).values() if hasattr(value, "targetoptions")]
    assert len(kernels) > 10
    assert all(kernel.targetoptions["fastmath"] is False for kernel in kernels)


def test_compiled_kernels_have_no_fast_math_and_no_c_library_calls():
    """LLVM may neither reorder nor fuse the operations."""
    calls = {
        float64.power: (2.0, 0.3),
        float64.cos: (1.0,),
        float64.sigmoid: (0.3,),
        float64.log1p: (0.3,),
    }
    for kernel, arguments in calls.items():
        # a cached kernel has no LLVM code
        compiled = type(kernel)(kernel.py_func, targetoptions=kernel.targetoptions)
        compiled(*arguments)
        for code in compiled.inspect_llvm().values():
            assert "fmul double" in code
            assert " reassoc" not in code
            assert " contract" not in code
            assert " fast " not in code
            assert "@llvm.fma" not in code
            assert "@exp(" not in code
            assert "@pow(" not in code
            assert "@log" not in code
