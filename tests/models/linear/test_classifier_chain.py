import itertools

import numpy as np
import pytest
from facts import raises_with
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from xmlc.core.errors import XmlcError
from xmlc.inference.samples import Samples, marginals_of
from xmlc.kernels.counter_random import random_unit, stream_key
from xmlc.kernels.float32 import sigmoid
from xmlc.models import ProbabilisticClassifierChain
from xmlc.models.linear.classifier_chain import sample_chain


@pytest.fixture(scope="module")
def problem():
    """Return 120 instances, 3 features and 4 labels.

    Label 1 is label 0 with noise. Label 2 is the opposite of label 0.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    first = X[:, 0] + rng.normal(size=120) > 0
    Y = np.stack([first, first ^ (rng.random(120) < 0.05), ~first, rng.random(120) < 0.3], axis=1)
    return sparse.csr_array(X.astype(np.float32)), sparse.csr_array(Y)


def sample_naively(scores, influence, n_samples, seed, first):
    rows = []
    m = scores.shape[1]
    for i, own in enumerate(scores):
        key = np.uint64(stream_key(seed, first + i))
        for t in range(n_samples):
            score = own.copy()
            row = []
            for j in range(m):
                if random_unit(key, t * m + j) < sigmoid(score[j]):
                    row.append(j)
                    score[j + 1 :] += influence[j, j + 1 :]
            rows.append(row)
    return rows


def test_samples_equal_plain_implementation():
    rng = np.random.default_rng(1)
    # The samples have more labels than the initial buffer.
    scores = rng.normal(2, 1, (4, 7)).astype(np.float32)
    influence = rng.normal(0, 2, (7, 7)).astype(np.float32)
    counts, labels = sample_chain(scores, influence, 30, 5, 11)
    expected = sample_naively(scores, influence, 30, 5, 11)
    assert counts.tolist() == [len(row) for row in expected]
    assert labels.tolist() == list(itertools.chain.from_iterable(expected))


def test_samples_follow_product_of_conditionals(problem):
    X, Y = problem
    model = ProbabilisticClassifierChain(C=1.0).fit(X, Y)
    n = 40_000
    draws = model.sample(X[:2], n).toarray().reshape(2, n, 4)
    for x, own in zip(X.toarray(), draws):
        for y in itertools.product([0, 1], repeat=4):
            scores = x @ model.weights_.T + model.constants_ + y @ np.triu(model.influence_, 1)
            expected = np.prod(expit(np.where(y, scores, -scores)))
            # Five standard deviations of the frequency.
            bound = 5 * np.sqrt(expected * (1 - expected) / n) + 1e-4
            assert abs((own == y).all(axis=1).mean() - expected) < bound


def test_estimates_are_means_of_unchanged_samples(problem):
    X, Y = problem
    model = ProbabilisticClassifierChain(n_samples=20, C=1.0).fit(X, Y)
    samples = model.sample(X)
    before = samples.indices.copy()
    shares = samples.toarray().reshape(120, 20, 4).mean(axis=1)
    assert np.allclose(marginals_of(Samples(samples, 20)).toarray(), shares)
    assert (samples.indices == before).all()
    assert np.allclose(model.predict_proba(X, 0.4).toarray(), np.where(shares > 0.4, shares, 0))
    assert (model.inner_products_ == 4).all()
    with raises_with(XmlcError, "n_samples=0"):
        model.sample(X, 0)


def test_samples_depend_only_on_seed_and_instance(problem, monkeypatch):
    X, Y = problem
    model = ProbabilisticClassifierChain(C=1.0, n_jobs=1).fit(X, Y)
    samples = model.sample(X, 30)
    monkeypatch.setattr("xmlc.models.linear.label_logistic.CELLS", 30 * 4 * 7)
    assert (model.set_params(n_jobs=2).sample(X, 30) != samples).nnz == 0
    assert (model.sample(X[:9], 30) != samples[: 9 * 30]).nnz == 0
    assert (model.set_params(random_state=1).sample(X, 30) != samples).nnz > 0
    assert model.sample(X[:0], 30).shape == (0, 4)


def test_chain_equals_scikit_learn_regressions_on_earlier_labels(problem):
    X, Y = problem
    model = ProbabilisticClassifierChain(C=0.7, label_scale=3.0, standardize=False).fit(X, Y)
    dense = X.toarray().astype(np.float64)
    scores = dense @ model.weights_.T + Y.toarray() @ model.influence_ + model.constants_
    assert not np.tril(model.influence_).any()
    for j, y in enumerate(Y.toarray().T):
        inputs = np.column_stack([dense, 3.0 * Y.toarray()[:, :j]])
        theirs = LogisticRegression(C=0.7, tol=1e-12, solver="newton-cholesky").fit(inputs, y)
        expected = theirs.predict_proba(inputs)[:, 1]
        np.testing.assert_allclose(expit(scores[:, j]), expected, rtol=0, atol=1e-6)


def test_reversed_order_equals_chain_of_reversed_labels(problem):
    X, Y = problem
    turned = ProbabilisticClassifierChain(C=1.0, order="reversed").fit(X, Y).sample(X, 10)
    given = ProbabilisticClassifierChain(C=1.0).fit(X, Y[:, ::-1]).sample(X, 10)
    assert (turned.toarray() == given.toarray()[:, ::-1]).all()
    assert turned.has_sorted_indices
