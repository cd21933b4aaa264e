"""Constructions for propositions 2.1 and 2.3 of gfm2011: the possible loss of MEUF and of
thresholds.
"""

import math

import numpy as np
import pytest

from xmlc.inference import LabelsBySize, gfm, gfm_t, meuf


def expected_f(Y_hat, P, p_empty, sizes):
    """Return the expected F of one nonempty prediction by equation (6)."""
    predicted = Y_hat.toarray()[0]
    return (2 * P[0, predicted] / (sizes + predicted.sum())).sum()


def all_or_nothing(m):
    """Return a distribution: all labels with probability q = log m / m, and otherwise no labels.

    Each marginal is q. For independent labels, the empty set has the probability (1 - q)^m <=
    e^{-qm} = 1/m. The set of all labels has a larger value than q = log m / m. MEUF therefore never
    predicts the empty set, whose true value is 1 - q. The true value of any set of k labels is q 2k
    / (k + m) <= q. The regret of MEUF is thus at least 1 - 2q = 1 - 2 log m / m.
    """
    q = math.log(m) / m
    return LabelsBySize(np.full((1, m, 1), q), np.array([1 - q]), np.array([m]))


def test_proposition_2_1_regret_of_meuf_tends_to_one():
    regrets = []
    for m in (10, 100, 2000):
        P = all_or_nothing(m)
        best_set, best = gfm(P)
        by_meuf, claimed = meuf(P.P.sum(axis=2))
        q = math.log(m) / m
        assert best_set.nnz == 0
        assert best[0] == pytest.approx(1 - q)
        assert by_meuf.nnz > 0
        assert claimed[0] > q
        regrets.append(best[0] - expected_f(by_meuf, *P))
        assert regrets[-1] >= 1 - 2 * q - 1e-12
    assert regrets == sorted(regrets)
    assert regrets[-1] > 0.99


def rare_companions(m, shift=0.0):
    """Return label 1 alone with probability 1/2 - shift, else label 0 and random others, m/2 labels
    in total.

    The set {1} has the value 1/2. Label 0 has the largest marginal (or, for shift = 0, the lowest
    id). A threshold thus selects {0} or a set with both labels. The value of {0} is at most 2 /
    (m/2 + 1) / 2. The value of {0, 1} is (1/2) 2/3 + 1 / (m/2 + 2) = 1/3 + 2/(m + 4). The loss is
    thus 1/6 - 2/(m + 4). Each other label has a marginal of about 1/4, and adding it only lowers
    the value.
    """
    size = m // 2
    P = np.zeros((1, m, 2))
    P[0, 1, 0] = 0.5 - shift
    P[0, 0, 1] = 0.5 + shift
    P[0, 2:, 1] = (0.5 + shift) * (size - 1) / (m - 2)
    return LabelsBySize(P, np.array([0.0]), np.array([1, size]))


@pytest.mark.parametrize("m", [12, 16, 100, 1000])
def test_proposition_2_3_best_threshold_loses_up_to_a_sixth(m):
    P = rare_companions(m)
    best_set, best = gfm(P)
    by_threshold, value = gfm_t(P)
    assert best_set.indices.tolist() == [1]
    assert best[0] == pytest.approx(0.5)
    assert value[0] == pytest.approx(expected_f(by_threshold, *P))
    assert best[0] - value[0] == pytest.approx(1 / 6 - 2 / (m + 4))


def test_proposition_2_3_holds_without_ties():
    m = 1000
    shift = 1e-6
    P = rare_companions(m, shift)
    assert gfm(P)[1][0] - gfm_t(P)[1][0] > 1 / 6 - 2 / (m + 4) - shift
