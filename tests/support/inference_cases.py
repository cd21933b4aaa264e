"""Make small distributions over all 2^m label sets, and compute expected F by its definition."""

from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
from scipy import sparse

from xmlc.inference import LabelsBySize, Samples


@lru_cache
def all_sets(m):
    """Return all label sets, bool of shape (2^m, m)."""
    return (np.arange(2**m)[:, None] >> np.arange(m) & 1).astype(bool)


@lru_cache
def f_of_pairs(m):
    """Return F of every pair of label sets with 0/0 = 1, shape (2^m, 2^m)."""
    sets = all_sets(m).astype(int)
    total = sets.sum(axis=1)[:, None] + sets.sum(axis=1)
    return np.where(total > 0, 2 * (sets @ sets.T) / np.maximum(total, 1), 1.0)


def values_of_all(pmf, m):
    """Return the expected F of every prediction under the probabilities ``pmf`` of all sets."""
    return f_of_pairs(m) @ pmf


def value_of(predicted, pmf):
    """Return the expected F of one prediction, a bool mask."""
    m = predicted.size
    return values_of_all(pmf, m)[np.flatnonzero((all_sets(m) == predicted).all(axis=1))[0]]


def independent_pmf(p):
    """Return the probabilities of all sets for independent labels."""
    return np.where(all_sets(p.size), p, 1 - p).prod(axis=1)


def random_marginals(rng, n, m):
    """Return random marginals. Most are small, some are equal, some are 0, and some are 1."""
    p = np.round(rng.random((n, m)) ** rng.choice([1, 3]), rng.choice([1, 6]))
    for value in (0.0, 1.0):
        p[rng.random((n, m)) < rng.choice([0, 0.2])] = value
    return p


def random_joint(rng, m):
    """Return a distribution over all label sets with strong dependence: few sets have most of the
    probability.
    """
    return rng.dirichlet(np.full(2**m, rng.choice([0.02, 0.2, 1.0])))


def by_size(pmfs, m):
    """Return P and p(Y = 0) of distributions over all label sets, by definition.

    P has a column for each size.
    """
    sets = all_sets(m)
    sizes = np.arange(1, m + 1)
    pmfs = np.array(pmfs)
    of_size = sets.sum(axis=1)[:, None] == sizes
    return LabelsBySize(np.einsum("iy,yj,ys->ijs", pmfs, sets, of_size), pmfs[:, 0], sizes)


def random_samples(rng, n, m, n_samples):
    """Return draws from a random joint distribution for each instance.

    Some of the drawn label sets are empty, and many are equal.
    """
    rows = [all_sets(m)[rng.choice(2**m, size=n_samples, p=random_joint(rng, m))] for _ in range(n)]
    return Samples(sparse.csr_array(np.vstack(rows)), n_samples)


def empirical_pmfs(samples, m):
    """Return the relative frequencies of all sets in each instance's samples."""
    numbers = (samples.Y.toarray() @ (1 << np.arange(m))).reshape(-1, samples.n_samples)
    return [np.bincount(row, minlength=2**m) / samples.n_samples for row in numbers]


def counted_by_size(samples):
    """Count samples to get P and p(Y = 0) of every instance. P has a column for each size."""
    m = samples.Y.shape[1]
    sizes = np.arange(m + 1)
    drawn = samples.Y.toarray().astype(int).reshape(-1, samples.n_samples, m)
    of_size = (drawn.sum(axis=2)[:, :, None] == sizes).astype(int)
    P = np.einsum("itj,its->ijs", drawn, of_size[:, :, 1:]) / samples.n_samples
    return LabelsBySize(P, of_size[:, :, 0].sum(axis=1) / samples.n_samples, sizes[1:])


def exact_by_size(p, weights):
    """Return P[i][s - 1] and p(Y = 0) of labels with weighted sizes, in fractions, by
    definition.
    """
    p = [Fraction(float(x)) for x in p]
    weights = [Fraction(float(x)) for x in weights]
    weights = [weights[min(s, len(weights) - 1)] for s in range(len(p) + 1)]
    if (mass := sum(q * weight for q, weight in zip(exact_pmf(p), weights))) == 0:
        weights = [1] * (len(p) + 1)
        mass = 1
    others = [exact_pmf(p[:i] + p[i + 1 :]) for i in range(len(p))]
    P = []
    for p_i, pmf in zip(p, others):
        P.append([p_i * q * weight / mass for q, weight in zip(pmf, weights[1:])])
    return P, exact_pmf(p)[0] * weights[0] / mass


def exact_pmf(p):
    """Return the probabilities of 0 .. len(p) positives among independent labels, in fractions."""
    pmf = [Fraction(1)]
    for q in p:
        pmf = [stays * (1 - q) + comes * q for stays, comes in zip([*pmf, 0], [0, *pmf])]
    return pmf


def exact_value_of(predicted, P, p_empty):
    """Return the expected F of one prediction, a bool mask, in fractions."""
    k = int(predicted.sum())
    hits = [
        P[i][s - 1] * 2 / (s + k)
        for i, s in product(np.flatnonzero(predicted), range(1, len(P) + 1))
    ]
    return sum(hits) if k else p_empty


def exact_best(P, p_empty):
    """Return the highest expected F of all predictions, in fractions, by GFM as printed in
    Algorithm 1.
    """
    best = p_empty
    for k in range(1, len(P) + 1):
        f = []
        for row in P:
            f.append(sum(q * 2 / (s + k) for s, q in enumerate(row, 1)))
        best = max(best, sum(sorted(f, reverse=True)[:k]))
    return best
