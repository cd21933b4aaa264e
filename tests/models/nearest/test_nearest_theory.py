"""The theorems of swnn2018 about neighbours and estimates (Section 3.5), for a known distribution.

Instances are uniform on the unit circle. Each instance is within an angle of pi p of an x with
probability p. The number of instances within this angle is thus binomial. All instances have both
features. If x has both features, then J is 1 for any beta.
"""

import numpy as np
import pytest
from scipy import stats

from xmlc.models import SparseWeightedNearestNeighbors

N_SEARCHES = 200


def circle(n, seed):
    angles = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    return np.column_stack((np.cos(angles), np.sin(angles))).astype(np.float32)


def searches(n, S, beta=0.0, x=(0.6, 0.8)):
    """Return similarities and squared distances of x to its neighbours, each of shape (N_SEARCHES,
    S).
    """
    x = np.array([x], dtype=np.float32)
    similarities = np.empty((N_SEARCHES, S))
    distances = np.empty((N_SEARCHES, S))
    for seed in range(N_SEARCHES):
        X = circle(n, seed)
        model = SparseWeightedNearestNeighbors(S=S, beta=beta).fit(X, np.ones((n, 1), bool))
        numbers, similarities[[seed]] = model.neighbours(x)
        distances[seed] = ((X[numbers[0]] - x) ** 2).sum(axis=1)
    return similarities, distances


@pytest.mark.parametrize(("n", "S", "beta"), [(64, 4, 1.0), (512, 8, 0.0), (4096, 16, 1.0)])
def test_similarities_of_neighbours_keep_bound_of_lemma_2(n, S, beta):
    """Lemma 2: with S = o(n) the similarity of the r-th neighbour goes to 1 in probability, for
    every x and r <= S.

    The bound in the proof (Appendix A) is P[Sim <= 1 - eps] <= r / ((n + 1) p). This bound goes to
    0 with r / n. The number p is the probability that one instance is more similar. If beta = 0,
    the bound holds for any x. Otherwise it holds for x with all features.
    """
    similarities, _ = searches(n, S, beta)
    for share in (1, 2, 4):  # Each factor multiplies r / n.
        p = share * S / n
        far = (similarities <= np.cos(np.pi * p)).mean(axis=0)
        r = np.arange(1, S + 1)
        exact = stats.binom.cdf(r - 1, n, p)
        error = 4.5 * np.sqrt(exact * (1 - exact) / N_SEARCHES) + 1 / N_SEARCHES
        assert (np.abs(far - exact) <= error).all()
        assert (exact <= r / ((n + 1) * p)).all()


def test_lemma_2_as_published_fails_if_x_lacks_a_feature():
    """With beta = 1, the Jaccard similarity of x = (1, 0) to any instance is 1/2."""
    similarities, distances = searches(4096, 4, beta=1.0, x=(1, 0))
    np.testing.assert_allclose(similarities, 0.5, atol=1e-3)
    assert distances.mean() < 1e-5  # Lemma 3 holds anyway


def test_votes_and_neighbours_converge():
    """Corollary 1: max(Sim, 0) ** alpha goes to 1.

    Lemma 3: |X_(r) - x|^2 goes to 0 in probability and in the mean.
    """
    votes = []
    means = []
    for n in (64, 512, 4096):
        similarities, distances = searches(n, S=round(n**0.5))
        np.testing.assert_allclose(distances, 2 - 2 * similarities, atol=1e-5)
        votes.append((similarities[:, -1] ** 2).mean())
        means.append(distances[:, -1].mean())
        # The angle to the r-th neighbour is pi times a Beta(r, n - r + 1) variable. The angle is
        # larger than the distance.
        S = similarities.shape[1]
        assert means[-1] <= np.pi**2 * S * (S + 1) / ((n + 1) * (n + 2)) * 1.1
    assert votes == sorted(votes)
    assert votes[-1] > 0.997
    assert means[-1] < 0.003


POSTERIORS = {  # f, the smallest L of |f(x) - f(x')| <= L |x - x'|, and the largest variance of Y
    "constant": (lambda X: np.full(len(X), 0.5), 0.0, 0.25),
    "linear": (lambda X: 0.5 + 0.5 * X[:, 1], 0.5, 0.25),
}


@pytest.mark.parametrize(("name", "alpha"), [("constant", 2.0), ("linear", 0.5)])
def test_squared_loss_keeps_bound_and_converges_to_zero(name, alpha):
    """Lemma 4 and Proposition 1.

    Lemma 4: E[(estimate - f)^2] <= sigma^2 sum_r E[V_r^2] + L^2 sum_r E[V_r |X_(r) - X|^2]. Here,
    V_r is the r-th neighbour's share of the votes. Proposition 1: the left-hand side goes to 0 as n
    and S go to infinity with S = o(n). The excess error of the sign of estimate - 1/2 also goes to
    0. This error is at most twice the root of the left-hand side.
    """
    posterior, L, variance = POSTERIORS[name]
    risks = []
    for n, n_sets in ((64, 40), (512, 20), (4096, 10)):
        losses = []
        terms = []
        excesses = []
        for seed in range(n_sets):
            X = circle(n, seed)
            Y = np.random.default_rng([seed, 1]).random((n, 1)) < posterior(X)[:, None]
            model = SparseWeightedNearestNeighbors(S=round(n**0.5), alpha=alpha, beta=0.0).fit(X, Y)
            queries = circle(200, seed + 1000)
            f = posterior(queries)
            estimates = model.predict_proba(queries).toarray()[:, 0]
            numbers, similarities = model.neighbours(queries)
            V = similarities.astype(float) ** alpha
            V /= V.sum(axis=1, keepdims=True)
            np.testing.assert_allclose(estimates, (V * Y[numbers, 0]).sum(axis=1), atol=1e-5)
            away = ((X[numbers] - queries[:, None]) ** 2).sum(axis=2)
            losses.append(((estimates - f) ** 2).mean())
            terms.append([(V**2).sum(axis=1).mean(), (V * away).sum(axis=1).mean()])
            excesses.append(np.where((estimates > 0.5) == (f > 0.5), 0, np.abs(2 * f - 1)).mean())
        bound = np.mean(terms, axis=0) @ (variance, L**2)
        error = 4 * np.std(losses) / n_sets**0.5
        assert np.mean(losses) <= bound + error
        if name == "constant":  # Here the loss has only the variance, which equals the bound.
            assert abs(np.mean(losses) - bound) <= error
        assert np.mean(excesses) <= 2 * np.mean(losses) ** 0.5
        risks.append(np.mean(losses))
    assert risks[0] > 2 * risks[1] > 4 * risks[2]
    assert risks[2] < 0.01
