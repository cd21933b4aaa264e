"""What the floor of an SPE costs: its bound against the exact loss of small distributions, and the estimated mean."""

import numpy as np
import pytest
from inference_cases import all_sets, independent_law, random_joint, values_of_all
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.inference import dropped_at_most, floor_bound, gfm, labels_below_floor, meuf
from xmlc.inference.distributions import LabelsBySize
from xmlc.inference.floor import floor_loss
from xmlc.inference.methods import METHODS


def loss_and_bound(law, m, retained, independent):
    """Infer from the retained labels' law and score under the whole; ``retained`` is a mask."""
    sets = all_sets(m)
    marginals = law @ sets
    delta, kappa = marginals[~retained].sum(), marginals[~retained].max(initial=0)
    P, p_empty = np.zeros((1, m, m)), law[~(sets & retained).any(axis=1)].sum()
    for y, probability in zip(sets & retained, law):
        P[0, y, y.sum() - 1] += probability
    if independent:
        Y_hat, expected_f = meuf((marginals * retained)[None])
    else:
        Y_hat, expected_f = gfm(LabelsBySize(P, np.array([p_empty]), np.arange(1, m + 1)))
    values = values_of_all(law, m)
    chosen = np.flatnonzero((sets == Y_hat.toarray()[0]).all(axis=1))[0]
    bound = floor_bound(Y_hat, expected_f, delta, kappa, independent)[0]
    return values.max() - values[chosen], bound


@pytest.mark.parametrize("independent", [True, False])
def test_the_loss_stays_below_the_bound_and_comes_near_it(independent):
    rng, shares = np.random.default_rng(0), []
    for _ in range(400):
        m = int(rng.integers(2, 7))
        p = rng.random(m) ** rng.choice([0.5, 1, 3])
        law = independent_law(p) if independent else random_joint(rng, m)
        marginals = law @ all_sets(m)
        retained = marginals > rng.choice([np.median(marginals), 0.1, 0.3])
        loss, bound = loss_and_bound(law, m, retained, independent)
        assert -1e-12 <= loss <= bound + 1e-12
        shares.append(loss / bound if bound > 0 else 0)
    assert max(shares) > 0.15


def test_the_bound_is_not_vacuous():
    """One label at nearly 1/2 is not predicted, though a dropped one makes the empty set the worse choice.

    p_0 = 1/2 - e, p_1 = q below the floor: the empty set is worth (1/2 + e)(1 - q), label 0 about 1/2 - q / 6: the loss
    is q / 3, the bound 3 q / 2.
    """
    q = 0.01
    law = independent_law(np.array([0.5 - 1e-9, q]))
    loss, bound = loss_and_bound(law, 2, np.array([True, False]), True)
    assert loss == pytest.approx(q / 3, rel=1e-3)
    assert bound == pytest.approx(1.5 * q, rel=1e-3)


def test_the_bound_by_hand():
    Y_hat = sparse.csr_array(np.array([[True, True, False], [False, False, False]]))
    values = np.array([0.5, 0.8])
    np.testing.assert_allclose(floor_bound(Y_hat, values, 0.2), [0.2 + 0.5 * 0.2 / 4, 0.2 + 0.8 * 0.2])
    np.testing.assert_allclose(floor_bound(Y_hat, values, [0.2, 3.0], 0.01), [0.02 + 0.025, 0.02 + 0.8])
    np.testing.assert_allclose(floor_bound(Y_hat, values, [0.2, 3.0], 0.01, False), [0.02 + 0.05, 0.02 + 0.8])
    assert floor_bound(Y_hat, values, 0.0).tolist() == [0, 0]


def test_what_lies_below_the_floor_is_counted():
    spe = sparse.csr_array(np.float32([[0.5, 0, 0.2], [0, 0, 0]]))
    Y = sparse.csr_array(np.array([[True, True, False], [True, False, True]]))
    assert labels_below_floor(spe, Y).tolist() == [1, 2]
    np.testing.assert_allclose(dropped_at_most(spe, 0.1), [0.1, 0.3])


def test_bad_input_is_refused():
    Y_hat, values = sparse.csr_array((2, 3), dtype=bool), np.ones(2)
    for wrong in (-0.1, np.nan, [0.1, 0.2, 0.3]):
        with pytest.raises(XmlcError, match="none below 0"):
            floor_bound(Y_hat, values, wrong)
    with pytest.raises(XmlcError, match=r"kappa=2: expected"):
        floor_bound(Y_hat, values, 0.1, kappa=2)


def test_the_mean_loss_by_hand():
    """One true label of the first instance is missed, two of the second, which is predicted to have none."""
    marginals = sparse.csr_array(np.array([[0.6, 0.0, 0.0], [0.0, 0.4, 0.0]]))
    Y = sparse.csr_array(np.array([[True, True, False], [True, False, True]]))
    Y_hat = sparse.csr_array(np.array([[True, False, False], [False, False, False]]))
    linear = (0.5 * 1 / (1 + 2) + 0.25 * 1) / 2  # of no label E[F] min(missed, 1)
    assert floor_loss(marginals, 0.3, Y, Y_hat, np.array([0.5, 0.25])) == pytest.approx(0.6 + linear)
    assert floor_loss(marginals, 0.9, Y, Y_hat, np.array([0.5, 0.25])) == pytest.approx(1.5 + linear)


def test_the_loss_is_bounded_for_exact_maximisers():
    assert {name for name, method in METHODS.items() if method.is_exact} == {"gfm", "meuf", "meuf-cubic"}
