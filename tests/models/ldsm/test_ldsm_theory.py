"""The theorems of ldsm2020 about its objective and its trees, and counterexamples to some of its
statements.
"""

from itertools import product

import ldsm_twin as twin
import numpy as np
import pytest
from scipy import sparse

from xmlc.models import LdSM

RNG = np.random.default_rng(7)


def random_split(arity, n_labels, hard=False):
    """Return P, P_i and pi of a random split.

    Each instance takes at least one direction: sum_j P_j^i >= 1.
    """
    pi = RNG.dirichlet(np.ones(n_labels))
    P_i = RNG.random((arity, n_labels)) ** RNG.choice([0.2, 1.0, 5.0])
    P_i = (P_i > 0.5).astype(float) if hard else P_i
    lacking = P_i.sum(axis=0) < 1
    P_i[:, lacking] = np.eye(arity)[RNG.integers(arity, size=lacking.sum())].T
    return P_i @ pi, P_i, pi


def balance_of(P):
    return twin.objective(P, np.zeros((len(P), 1)), [0.0], 0, 0)


def balancedness(P):
    """Return the balancedness by Definition 1."""
    return abs(P - P.mean()).max()


def purity(P_i, pi):
    """Return the purity by Definition 2."""
    return np.minimum(P_i, P_i.sum(axis=0) - P_i).mean(axis=0) @ pi


def splits(arity, n_labels):
    """Yield all splits of equally frequent labels, with the same directions for all instances of a
    label.
    """
    ways = [way for way in product((0, 1), repeat=arity) if any(way)]
    pi = np.full(n_labels, 1 / n_labels)
    for chosen in product(ways, repeat=n_labels):
        P_i = np.array(chosen, dtype=float).T
        yield P_i @ pi, P_i, pi


@pytest.mark.parametrize(("arity", "n_labels"), [(2, 4), (3, 3)])
def test_objective_is_smallest_only_for_balanced_and_pure_splits(arity, n_labels):
    """Lemmas 1 and 4: J* = -lambda_1 (M - 1)."""
    lambda_1 = 2.0
    lambda_2 = 0.5
    best = -lambda_1 * (arity - 1)
    reached = 0
    for P, P_i, pi in splits(arity, n_labels):
        value = twin.objective(P, P_i, pi, lambda_1, lambda_2)
        perfect = balancedness(P) < 1e-9 and purity(P_i, pi) < 1e-9
        assert (value < best + 1e-9) == perfect
        assert value > best - 1e-9
        reached += perfect
    assert reached > 0


@pytest.mark.parametrize("arity", [2, 3, 4, 5])
def test_objective_is_within_range_of_lemmas_1_and_4(arity):
    """Lemmas 1 and 4: [-lambda_1 (M - 1), lambda_2 (M - 1)] if lambda_2 > (M - 3) lambda_1, and
    lambda_1 >= 1.
    """
    for trial in range(150):
        lambda_1 = RNG.uniform(1, 4)
        lambda_2 = max(0.0, arity - 3) * lambda_1 + RNG.uniform(0.01, 3)
        value = twin.objective(*random_split(arity, 6, hard=trial % 2 == 0), lambda_1, lambda_2)
        assert -lambda_1 * (arity - 1) - 1e-12 <= value <= lambda_2 * (arity - 1) + 1e-12
    # The upper end has all instances in all directions. If lambda_1 < 1, a split in one direction
    # may exceed this upper end.
    everywhere = np.ones(arity), np.ones((arity, 1)), [1.0]
    assert twin.objective(*everywhere, 2.0, 0.25) == pytest.approx(0.25 * (arity - 1))
    one = np.eye(arity)[0], np.eye(arity)[:, :1], [1.0]
    assert twin.objective(*one, 0.5, 0.25) == pytest.approx(0.5 * (arity - 1))


def test_balancedness_is_bounded_by_balancing_term():
    """Lemma 2: beta <= J - J_purity."""
    for trial in range(200):
        P, *_ = random_split(2 + trial % 4, 6, hard=trial % 3 == 0)
        assert balancedness(P) <= balance_of(P) + 1e-12


def test_purity_is_bounded_by_purity_terms():
    """Lemma 3 with M - 1 instead of (M - 1) / 2, for lambda_2 > lambda_1 (M - 1).

    The proof bounds sum_(j<l) |P_j - P_l| by (M - 1) / 2 sum_j P_j (equation 41). A split in one
    direction has the sum M - 1, which exceeds this bound. The inequality |a - b| <= a + b gives the
    correct bound (M - 1) sum_j P_j.
    """
    for trial in range(200):
        arity = 2 + trial % 4
        P, P_i, pi = random_split(arity, 6, hard=trial % 3 == 0)
        lambda_1 = RNG.uniform(0.1, 4)
        slack = RNG.uniform(0.05, 3)
        lambda_2 = lambda_1 * (arity - 1) + slack
        rest = twin.objective(P, P_i, pi, lambda_1, lambda_2) - balance_of(P)
        assert purity(P_i, pi) <= (rest + lambda_2) / (arity * slack) + 1e-12


def test_lemma_3_as_published_fails_for_best_split():
    # lambda_1 (M - 1) >= lambda_2 >= lambda_1 (M - 1) / 2
    P = pi = np.array([0.5, 0.5])
    value = twin.objective(P, np.eye(2), pi, 2.0, 1.5)
    bound = (value + 1.5) * 2 / (2 * (2 * 1.5 - 2.0))
    assert purity(np.eye(2), pi) == 0 > bound


def top_mass(histogram, r):
    return np.sort(histogram)[::-1][:r].sum()


def recall_of_tree(model, X, Y, r):
    """Return R@r on training data.

    At each node, an instance's weight is divided by its number of directions.
    """
    forest = model.forest_
    histograms = np.zeros((forest.sizes.size, Y.shape[1]))
    for x, own in zip(X.toarray(), Y.toarray()):
        todo = [(0 if forest.levels.size else ~0, 1.0)]
        while todo:
            node, weight = todo.pop()
            if node < 0:
                histograms[~node] += weight * own
                continue
            part = slice(forest.weight_starts[node], forest.weight_starts[node + 1])
            scores = forest.biases[node] + x[forest.features[part]] @ forest.weights[part]
            sent = twin.directions(scores)
            todo += [(int(forest.children[node, j]), weight / len(sent)) for j in sent]
    return sum(top_mass(histogram, r) for histogram in histograms) / (r * X.shape[0])


def test_recall_does_not_decrease_as_tree_grows(multilabel):
    """Theorem 2 for a tree: splits do not increase the error 1 - R@r.

    As in the proof, each example has r labels.
    """
    X = multilabel(120, 15, 10, seed=8)[0]
    r = 3
    ranks = (X @ np.random.default_rng(8).normal(size=(15, 10))).argsort(axis=1).argsort(axis=1)
    Y = sparse.csr_array(ranks < r)
    recalls = []
    levels = None
    for n_nodes in (1, 3, 5, 9, 13):
        model = LdSM(n_trees=1, max_nodes=n_nodes, learning_rate=1.0, epochs=20, n_jobs=1).fit(X, Y)
        # A larger tree extends the smaller one.
        assert levels is None or model.forest_.levels[: levels.size].tolist() == levels.tolist()
        levels = model.forest_.levels
        assert model.n_nodes_.tolist() == [n_nodes]
        recalls.append(recall_of_tree(model, X, Y, r))
    assert (np.diff(recalls) >= -1e-12).all()
    assert recalls[-1] > recalls[0] + 0.05


def grown(sets, arity, lambda_1=2.0, lambda_2=0.5):
    """Grow a tree over equally likely instances by any splits with J = J*, and return its
    leaves.
    """
    seen = sets.sum(axis=0)
    present = seen > 0
    for ways in product(range(1, 2**arity), repeat=len(sets)):
        sent = np.array(ways) >> np.arange(arity)[:, np.newaxis] & 1
        P_i = (sent @ sets)[:, present] / seen[present]
        pi = seen[present] / seen.sum()
        if twin.objective(P_i @ pi, P_i, pi, lambda_1, lambda_2) < -lambda_1 * (arity - 1) + 1e-9:
            found = []
            for own in sent:
                found += grown(sets[own == 1], arity)
            return found
    return [sets]


def errors(leaves):
    """Return both sides of equation (5) for r = 1 ..

    R: missed labels / r, and 1 - R@r. By (53), R@r is hits / r.
    """
    n = sum(map(len, leaves))
    R = leaves[0][0].sum()
    r = np.arange(1, R + 1)
    hits = sum(np.cumsum(np.sort(leaf.sum(axis=0))[::-1][:R]) for leaf in leaves) / n
    return (R - hits) / r, 1 - hits / r


@pytest.mark.parametrize(
    ("n_labels", "R", "arity"), [(4, 1, 2), (8, 2, 2), (12, 3, 2), (9, 3, 3), (3, 1, 3)]
)
def test_perfect_splits_down_to_single_label_sets_have_no_error(n_labels, R, arity):
    """Theorem 1, Section 3.2: with R labels an example and J = J* at every node, the r-level error
    is 0 for r <= R.

    The theorem needs two assumptions of its proof (Section 8). First, there are (K / R) disjoint
    label sets, one for each leaf of a full tree. Second, the error is 1 - R@r, the right-hand side
    of (5). The left-hand side is (R - r) / r instead of 0, because it also counts the R - r labels
    beyond r predictions.
    """
    leaves = grown(np.kron(np.eye(n_labels // R, dtype=int), np.ones((1, R), dtype=int)), arity)
    assert len(leaves) == n_labels // R
    missed, not_recalled = errors(leaves)
    r = np.arange(1, R + 1)
    np.testing.assert_allclose(not_recalled, 0, atol=1e-12)
    np.testing.assert_allclose(missed, (R - r) / r)


def test_theorem_1_as_published_fails_if_leaf_has_several_label_sets():
    """A tree has two leaves, each with three overlapping sets, and no further split has J = J*.

    Above (51), the proof bounds a leaf's entries beyond the first R by 1/2. The correct bound is R
    / (R + 1).
    """
    triangle = 1 - np.eye(3, dtype=int)  # {2, 3}, {1, 3}, {1, 2}
    leaves = grown(np.kron(np.eye(2, dtype=int), triangle), 2)
    assert [len(leaf) for leaf in leaves] == [3, 3]
    np.testing.assert_allclose(errors(leaves)[1], 1 / 3)
    assert np.sort(leaves[0].mean(axis=0))[::-1][2] == pytest.approx(2 / 3)
