"""Sparse weighted nearest neighbours, compared with a search over all similarities, and the paper's
statements.
"""

import nearest_twin
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nearest_cases import data
from scipy import sparse
from small_data import marked_instances, random_multilabel

from xmlc.kernels.csr import top_k_of
from xmlc.kernels.unit_length import unit_rows
from xmlc.models import SparseWeightedNearestNeighbors, model_selection
from xmlc.models.nearest import _index, estimator

# swnn2018, Section 4.3
PAIRS = [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (1.0, 1.0), (2.0, 0.0), (2.0, 1.0)]
KINDS = ("weights", "binary", "signs")


def small_blocks(monkeypatch, block_rows, n_words):
    """Divide the index of a few instances into blocks, like an index of many."""
    build = _index.build_index
    monkeypatch.setattr(estimator, "build_index", lambda X: build(X, n_words, block_rows))


def check_search(model, X, Q):
    found = model.neighbours(Q)
    rows = (unit_rows(X).toarray(), unit_rows(Q).toarray())
    for array, expected in zip(found, nearest_twin.neighbours(*rows, model.S, model.beta_)):
        np.testing.assert_array_equal(array, expected)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("alpha", "beta"), [*PAIRS, (1.5, 0.7)])
def test_neighbours_and_estimates_equal_plain_implementation(alpha, beta, kind, monkeypatch):
    for seed, (block_rows, n_words) in enumerate([(1 << 16, None), (16, 1), (7, 0), (64, 2)]):
        small_blocks(monkeypatch, block_rows, n_words)
        X, Y, Q = data(100, 90, seed, kind)
        model = SparseWeightedNearestNeighbors(S=5, alpha=alpha, beta=beta).fit(X, Y)
        expected = nearest_twin.estimates(*check_search(model, X, Q), Y.toarray(), alpha)
        spe = model.predict_proba(Q)
        assert spe.dtype == np.float32
        np.testing.assert_array_equal(spe.toarray(), expected)
        np.testing.assert_array_equal(model.predict_top_k(Q, 3), top_k_of(spe, 3))
        high = model.predict_proba(Q, threshold=0.3).toarray()
        np.testing.assert_array_equal(high, np.where(expected > np.float32(0.3), expected, 0))


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_instance_of_weight_w_counts_as_w_neighbours(alpha):
    X, Y, Q = data(100, 90, 1, "weights")
    weights = np.random.default_rng(2).choice([0.5, 1, 3], 100).astype(np.float32)
    model = SparseWeightedNearestNeighbors(S=9, alpha=alpha, beta=1.0).fit(
        X, Y, sample_weight=weights
    )
    expected = nearest_twin.estimates(*check_search(model, X, Q), Y.toarray(), alpha, weights)
    np.testing.assert_array_equal(model.predict_proba(Q).toarray(), expected)


@settings(max_examples=40)
@given(
    n=st.integers(1, 40),
    d=st.integers(1, 80),
    S=st.integers(1, 60),
    beta=st.sampled_from([0.0, 1.0, 0.7, 50.0]),
    block_rows=st.integers(1, 50),
    n_words=st.integers(0, 2),
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 999),
)
def test_search_is_exact_for_any_shape(n, d, S, beta, block_rows, n_words, kind, seed):
    X, Y, Q = data(n, d, seed, kind, n_queries=4)
    with pytest.MonkeyPatch.context() as monkeypatch:
        small_blocks(monkeypatch, block_rows, n_words)
        check_search(SparseWeightedNearestNeighbors(S=S, beta=beta).fit(X, Y), X, Q)


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_instances_may_have_more_than_65535_features(beta):
    X = np.ones((5, 70_000), dtype=np.float32)
    model = SparseWeightedNearestNeighbors(S=7, beta=beta).fit(X, np.eye(5))
    numbers, similarities = model.neighbours(X[:1])
    assert numbers.tolist() == [[0, 1, 2, 3, 4, -1, -1]]
    np.testing.assert_allclose(similarities[0, :5], 1, rtol=1e-5)


def test_blocks_are_limited_by_number_of_postings(monkeypatch):
    X, Y, Q = data(100, 90, 5, KINDS[0])
    monkeypatch.setattr(_index, "MOST_POSTINGS", 400)
    model = SparseWeightedNearestNeighbors(S=5, beta=1.0).fit(X, Y)
    blocks = np.arange(0, 100, model.index_.block_rows)
    assert np.add.reduceat(np.diff(X.indptr), blocks).max() <= 400
    check_search(model, X, Q)


def test_bounds_avoid_most_similarities_on_many_instances():
    rng = np.random.default_rng(3)
    n = 5000
    d = 300
    frequencies = 1 / np.arange(1, d + 1)
    weights = (rng.random((n, d)) < frequencies) * rng.random((n, d)) * -np.log(frequencies + 1e-3)
    X = sparse.csr_array(weights.astype(np.float32))
    model = SparseWeightedNearestNeighbors(S=10).fit(X, np.ones((n, 1), dtype=bool))
    assert model.index_.words.shape[0] >= 1
    check_search(model, X, X[:3])
    model.neighbours(X[:200])
    assert (model.inner_products_ >= 1).all()
    assert model.inner_products_.mean() < 100


@pytest.mark.parametrize(("beta", "labels"), [(0, [3, 5]), (1, [1, 2]), (2, [1, 2])])
def test_example_of_section_3_3_is_reproduced(beta, labels):
    """In Section 3.3, the instance with equal features loses with the cosine and wins with the
    Jaccard similarity.
    """
    numbers = np.arange(9)
    X = [np.isin(numbers, [1, 2, 4])] + [np.isin(numbers, [1, 2, 4, 5, 8])] * 4
    Y = [np.isin(numbers, [1, 2])] + [np.isin(numbers, [3, 5, 6])] * 4
    # The exponents alpha = 2 and beta >= 1 let the best match win against four others.
    model = SparseWeightedNearestNeighbors(S=5, alpha=2, beta=beta).fit(X, Y)
    assert model.predict_top_k(X[:1], 2)[0].tolist() == [labels]


@pytest.mark.parametrize("beta", [0.0, 1.0, 2.0])
def test_similarity_is_symmetric_and_positive_semidefinite(beta):
    """Lemma 1, for integer beta."""
    X = np.unique(data(60, 30, 5, "signs")[0].toarray(), axis=0)
    X = X[X.any(axis=1)]
    n = len(X)
    model = SparseWeightedNearestNeighbors(S=2 * n, beta=beta)
    model.fit(np.vstack([X, -X]), np.ones((2 * n, 1), dtype=bool))
    numbers, similarities = model.neighbours(X)
    gram = np.zeros((n, 2 * n + 1))  # the last column stands for no neighbour
    np.put_along_axis(gram, numbers.astype(int), similarities, axis=1)
    # The search finds only positive similarities, so a search with -X gives the negative ones.
    gram = gram[:, :n] - gram[:, n : 2 * n]
    np.testing.assert_allclose(gram, gram.T, atol=1e-6)
    np.testing.assert_allclose(np.diag(gram), 1, atol=1e-6)
    assert np.linalg.eigvalsh(gram).min() > -1e-6


def selected_by_twin(X, Y, rows, S, alpha):
    """Select beta by leave-one-out: 0 (cosine) if its P@1 is better."""
    dense = unit_rows(X).toarray()
    hits = {0.0: 0, 1.0: 0}
    for beta in hits:
        for i in rows:
            numbers, similarities = nearest_twin.neighbours(dense, dense[[i]], len(dense), beta)
            others = numbers[0] != i
            votes = numbers[:, others][:, :S], similarities[:, others][:, :S]
            estimates = nearest_twin.estimates(*votes, Y.toarray(), alpha)[0]
            hits[beta] += bool(estimates.max() > 0 and Y[i, estimates.argmax()])
    return 0.0 if hits[0.0] > hits[1.0] else 1.0


@pytest.mark.parametrize("most", [1000, 40])
def test_beta_is_selected_by_leave_one_out(most, monkeypatch, tmp_path):
    monkeypatch.setattr(estimator, "INSTANCES_FOR_BETA", most)
    loud = marked_instances(70, 40, 5, seed=3)
    weak = marked_instances(70, 40, 5, loud=0.1)
    for (X, Y), beta in ((loud, 0.0), (weak, 1.0), (data(70, 30, 3)[:2], 1.0)):
        rows = model_selection.sample(70, most)
        model = SparseWeightedNearestNeighbors(S=3, alpha=1.0).fit(X, Y)
        assert model.beta_ == beta == selected_by_twin(X, Y, rows, 3, 1.0)
        expected = model.predict_proba(X).toarray()
        refitted = SparseWeightedNearestNeighbors(S=3, alpha=1.0, beta=beta).fit(X, Y)
        model.save(tmp_path / "model")
        for other in (refitted, SparseWeightedNearestNeighbors.load(tmp_path / "model")):
            assert other.beta_ == beta
            np.testing.assert_array_equal(other.predict_proba(X).toarray(), expected)


@pytest.mark.parametrize("alpha", [0.0, 300.0])
def test_extreme_exponents_neither_overflow_nor_vanish(alpha):
    X, Y, Q = data(80, 30, 2)
    model = SparseWeightedNearestNeighbors(S=9, alpha=alpha, beta=2).fit(X, Y)
    estimates = model.predict_proba(Q).toarray()
    assert np.isfinite(estimates).all()
    assert estimates.max() > 0


def test_results_are_bit_identical_for_any_threads_and_pieces(monkeypatch):
    X, Y = random_multilabel(300, 40, 9, seed=4)

    def results(n_jobs):
        model = SparseWeightedNearestNeighbors(S=8, n_jobs=n_jobs).fit(X, Y)
        arrays = [*model.neighbours(X), *model.predict_top_k(X, 3), model.inner_products_]
        return [array.tobytes() for array in arrays]

    expected = results(1)
    monkeypatch.setattr(estimator, "ROWS_PER_TASK", 17)
    assert results(3) == expected


def test_empty_instances_have_no_neighbours():
    X, Y, _ = data(20, 10, 0)
    model = SparseWeightedNearestNeighbors(S=3).fit(X, Y)
    nothing = np.zeros((4, 10))
    assert (model.neighbours(nothing)[0] == -1).all()
    assert model.predict_proba(nothing).nnz == 0
    assert (model.predict_top_k(nothing, 2)[0] == -1).all()
    assert model.fit(nothing, Y[:4]).predict_proba(X).nnz == 0


@pytest.mark.parametrize("vanishing", [0.0, 1e-30])
def test_index_omits_stored_zeros_and_values_that_underflow(vanishing):
    X, Y, _ = data(50, 20, 8)
    dense = X.toarray()
    if vanishing:
        dense[:, 3] = 1e20
    stored = sparse.csr_array(np.ones_like(dense))
    stored.data[:] = np.where(dense == 0, vanishing, dense).ravel()
    found = SparseWeightedNearestNeighbors(S=4).fit(stored, Y).index_
    expected = SparseWeightedNearestNeighbors(S=4).fit(dense, Y).index_
    for array, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(array, other)
