"""Three forms of MEUF, compared with all label sets, with each other and with GFM on the full
matrix P.
"""

import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_cases import independent_pmf, random_marginals, value_of, values_of_all
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.inference import gfm, meuf, meuf_approx, meuf_cubic
from xmlc.inference.jansche import expected_by_cells

FEW = settings(max_examples=30, derandomize=True)
SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("infer", [meuf, meuf_cubic, lambda p: meuf_approx(p, n_cells=10)])
@FEW
@given(seed=SEEDS, m=st.integers(1, 9))
def test_meuf_finds_best_set_of_independent_labels(infer, seed, m):
    p = random_marginals(np.random.default_rng(seed), 3, m)
    Y_hat, expected_f = infer(p)
    for predicted, value, row in zip(Y_hat.toarray(), expected_f, p):
        pmf = independent_pmf(row)
        assert value == pytest.approx(values_of_all(pmf, m).max(), abs=1e-12)
        assert value_of(predicted, pmf) == pytest.approx(value, abs=1e-12)


def wide_marginals():
    """Return instances of 90 labels with various marginals: equal, skewed, certain, tied, all zero,
    one positive.
    """
    rng = np.random.default_rng(0)
    rows = [np.full(90, q) for q in (0.0, 0.01, 0.12, 0.5, 0.97)]
    for shape in (0.5, 1, 3):
        rows += [np.minimum(1, rng.pareto(shape, 90) * scale) for scale in (0.001, 0.01, 0.1)]
    rows += [rng.random(90) ** power for power in (0.2, 1, 4)]
    rows += [np.repeat([1.0, 0.0], 45), np.repeat([0.5, 0.05, 1e-9], 30), np.eye(90)[7] * 0.3]
    # All 20 labels have a larger value than the empty set, although the first few have not.
    rows.append(np.where(np.arange(90) < 20, 0.1, 0.0))
    rows += [rng.choice([0.001, 0.01, 0.1, 0.4, 0.6], 90) * (rng.random(90) < 0.2) for _ in "12345"]
    return np.array(rows)


def test_exact_methods_agree_on_many_labels():
    """`meuf` uses bounds for `candidates` and truncated distributions, and the other methods do
    not.
    """
    p = wide_marginals()
    Y_hat, expected_f = meuf(p)
    for other in (meuf_cubic(p), gfm(p)):
        np.testing.assert_allclose(other[1], expected_f, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(other[0].toarray(), Y_hat.toarray())


def test_approximation_is_close_and_never_above_exact_value():
    p = wide_marginals()
    loss = meuf(p)[1] - meuf_approx(p)[1]
    assert loss.min() >= -1e-12
    assert 1e-6 < loss.max() < 0.01
    assert abs(meuf(p)[1] - meuf_approx(p, n_cells=40)[1]).max() < loss.max() / 2


def test_last_cell_uses_its_conditional_mean():
    """One cell has no other positive.

    The other cell has the mean number of positives, given at least one.
    """
    p = np.array([0.9, 0.4, 0.3, 0.2])
    none = 0.6 * 0.7 * 0.8
    by_hand = 0.9 * (none * 2 / 2 + (1 - none) * 2 / (2 + 0.9 / (1 - none)))
    assert expected_by_cells(p, 1, 2) == pytest.approx(by_hand, abs=1e-14)


def test_meuf_works_with_half_a_million_labels():
    m = 500_000
    rng = np.random.default_rng(2)
    columns = np.sort(rng.integers(0, m // 100, (520, 100)) + np.arange(100) * (m // 100))
    values = (rng.random((520, 100)) ** 12).astype(np.float32)
    spe = sparse.csr_array((values.ravel(), columns.ravel(), np.arange(521) * 100), shape=(520, m))
    one = meuf(spe, n_jobs=1)
    two = meuf(spe, n_jobs=2)
    dense = meuf(values.astype(np.float64))
    for other in (two, dense):
        np.testing.assert_array_equal(one[1], other[1])
    for found in (one, two):
        np.testing.assert_array_equal(found[0].indices, columns[dense[0].nonzero()])


def test_meuf_resolves_ties_by_id_and_accepts_stored_zeros():
    spe = (np.float32([0.9, 0.0, 0.9, 0.0]), [3, 1, 2, 0], [0, 3, 3, 4])
    Y_hat, expected_f = meuf(sparse.csr_array(spe, shape=(3, 4)))
    assert Y_hat.toarray().tolist() == [[False, False, True, True], [False] * 4, [False] * 4]
    assert expected_f[1:].tolist() == [1, 1]
    assert meuf(np.array([[0.1, 0.6, 0.6, 0.1]]))[0].indices.tolist() == [1, 2]
    assert meuf(np.array([[1.0, 1.0, 0.0]]))[1].tolist() == [1.0]
    assert meuf(np.zeros((0, 4)))[0].shape == (0, 4)


def test_meuf_refuses_invalid_input():
    for wrong in (-0.1, 1.1, np.nan):
        with raises_with(XmlcError, "marginals", wrong):
            meuf(np.array([[0.5, wrong]]))
    with raises_with(XmlcError, "n_cells=1"):
        meuf_approx(np.array([[0.5]]), n_cells=1)
