"""The bounds of plt2016 and oplt2021 on the estimates of labels, for known probabilities.

Both papers bound |eta_j(x) - its estimate| by a sum over the nodes v of the path to j's leaf. (11)
of plt2016, Appendix A, adds the errors |eta(x, v) - its estimate|. Theorem 1 of oplt2021, Section
3, multiplies each error by the true probability that v's parent is positive. This probability is 1
for the root. The second bound is never larger. Both bounds hold as published.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plt_descent_twin import given_parents
from plt_twin import ancestors, positive_nodes
from scipy import sparse

from xmlc.kernels.csr import kernel_csr
from xmlc.models import OPLT, PLT
from xmlc.models.plt.weights import LOGISTIC_LINK
from xmlc.models.trees import LabelTree, random_complete_tree

M = 5
SETS = []
for mask in range(2**M):
    SETS.append([j for j in range(M) if mask >> j & 1])
INSTANCES = np.eye(6, dtype=np.float32) + 0.2  # the only six instances, each with its own feature


def joint_distributions(seed):
    """Return the probability of every label set given each instance. Few sets are likely."""
    weights = np.random.default_rng(seed).gamma(0.2, size=(len(INSTANCES), len(SETS)))
    return weights / weights.sum(axis=1, keepdims=True)


def mass(joint, sets, member):
    """Return the probability of the sets with a member, given each instance."""
    return joint[:, [member in one for one in sets]].sum(axis=1)


def posteriors(joint):
    """Return eta(x, j), the sum over the sets that contain j."""
    return np.column_stack([mass(joint, SETS, j) for j in range(M)])


def node_posteriors(tree, joint):
    """Return P(z_v = 1 | z_pa(v) = 1, x) by sums over sets (0 for impossible parents), and
    P(z_pa(v) = 1 | x).
    """
    positive = [positive_nodes(tree, labels) for labels in SETS]
    reached = np.column_stack([mass(joint, positive, t) for t in range(tree.n_nodes)])
    above = np.column_stack((np.ones(len(joint)), reached[:, tree.parent[1:]]))
    return np.divide(reached, above, out=np.zeros_like(reached), where=above > 0), above


def along_paths(tree, values, combine):
    """Combine the values of the nodes on the path to each label."""
    paths = [list(ancestors(tree, leaf)) for leaf in tree.leaf]
    return np.column_stack([combine(values[:, path], axis=1) for path in paths])


def bounds(tree, joint, guessed):
    """Return the bounds of Theorem 1 and (11), each of shape (instances, labels)."""
    true, above = node_posteriors(tree, joint)
    return [along_paths(tree, factor * np.abs(guessed - true), np.sum) for factor in (above, 1)]


def deepest_tree():
    """Return the binary tree of the largest depth: one child of each inner node is a leaf."""
    children = [1, *np.repeat(np.arange(3, 2 * M, 2), 2), 2 * M - 1]
    label = np.full(2 * M - 1, -1)
    label[1::2] = np.arange(M - 1)
    label[-1] = M - 1
    return LabelTree.from_children(np.array(children), label)


@settings(max_examples=20)
@given(seed=st.integers(0, 9999), arity=st.integers(2, 4), deep=st.booleans())
def test_any_node_estimates_keep_bound_and_one_wrong_node_attains_it(seed, arity, deep):
    rng = np.random.default_rng(seed)
    joint = joint_distributions(seed)
    tree = deepest_tree() if deep else random_complete_tree(M, arity, seed)
    true, _ = node_posteriors(tree, joint)
    # equation (10)
    np.testing.assert_allclose(along_paths(tree, true, np.prod), posteriors(joint), atol=1e-12)
    guessed = rng.uniform(size=true.shape)
    error = np.abs(along_paths(tree, guessed, np.prod) - posteriors(joint))
    theorem_1, bound_11 = bounds(tree, joint, guessed)
    assert (error <= theorem_1 + 1e-12).all()
    assert (theorem_1 <= bound_11 + 1e-12).all()
    # If only a leaf is wrong, the error equals the bound of Theorem 1 for any distribution.
    for leaf in tree.leaf:
        wrong = true.copy()
        wrong[:, leaf] = guessed[:, leaf]
        error = np.abs(along_paths(tree, wrong, np.prod) - posteriors(joint))
        np.testing.assert_allclose(error, bounds(tree, joint, wrong)[0], atol=1e-12)
    # If each instance has all labels, any wrong node attains (11).
    for node in range(tree.n_nodes):
        wrong = np.ones_like(true)
        wrong[:, node] = guessed[:, node]
        error = 1 - along_paths(tree, wrong, np.prod)
        np.testing.assert_allclose(error, along_paths(tree, 1 - wrong, np.sum), atol=1e-12)


def check_bounds(learn):
    """Train on label sets drawn from known distributions, and return the mean error."""
    joint = joint_distributions(11)
    rng = np.random.default_rng(11)
    rows = rng.integers(0, len(INSTANCES), 400)
    drawn = [SETS[rng.choice(len(SETS), p=joint[row])] for row in rows]
    Y = np.array([np.isin(np.arange(M), labels) for labels in drawn])
    model = learn(INSTANCES[rows], Y)
    guessed = given_parents(kernel_csr(sparse.csr_array(INSTANCES)), model.nodes_, LOGISTIC_LINK)
    error = np.abs(model.predict_proba(INSTANCES).toarray() - posteriors(joint))
    theorem_1, bound_11 = bounds(model.tree_, joint, guessed)
    assert (error <= theorem_1 + 1e-5).all()
    assert theorem_1.mean() < bound_11.mean()
    return error.mean()


@pytest.mark.parametrize("options", [{"hash_bits": 20}, {"hash_bits": 4}, {}, {"solver": "batch"}])
def test_trained_tree_keeps_bound(options):
    """The cases have hashed weights with few collisions, with many collisions, and exact
    weights.
    """
    error = check_bounds(PLT(tree="random", arity=2, epochs=5, unit_norm=False, **options).fit)
    if options != {"hash_bits": 4}:  # without estimates, the errors would be the posteriors
        assert error < posteriors(joint_distributions(11)).mean() / 2


@pytest.mark.parametrize("policy", ["random", "best_greedy"])
def test_tree_grown_online_keeps_bound(policy):
    model = OPLT(policy=policy, max_leaf=2, gamma=1.0, unit_norm=False, random_state=3)
    check_bounds(lambda X, Y: model.partial_fit(X, Y).to_plt())
