"""Metrics of rankings, compared with plain loops and scikit-learn."""

import numpy as np
import pytest
import sklearn.metrics as baseline
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.metrics import (
    coverage_at_k,
    ece_at_k,
    macro_f1_at_k,
    macro_precision_at_k,
    macro_recall_at_k,
    maximum_precision_at_k,
    ndcg_at_k,
    precision_at_k,
    propensities,
    propensity_parameters,
    psndcg_at_k,
    psp_at_k,
    recall_at_k,
)
from xmlc.metrics.plots import plot_precision_by_frequency
from xmlc.metrics.resampling import standard_errors

CASES = {
    "n": st.integers(1, 12),
    "m": st.integers(5, 12),
    "k": st.integers(1, 5),
    "seed": st.integers(0, 999),
}


def ranking_case(n, m, seed):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, m)) < 0.3
    scores = rng.random((n, m))
    return Y, scores, np.argsort(-scores, axis=1).astype(np.int32)


@given(**CASES)
def test_precision_recall_psp_and_psndcg_equal_plain_loops(n, m, k, seed):
    Y, _, labels = ranking_case(n, m, seed)
    labels[0, 1:] = -1  # fewer than k labels
    Y[-1] = False
    propensity = np.random.default_rng(seed).uniform(0.1, 1, m)
    hits = recall = reached = best = 0
    discounted = ideal = 0
    for i in range(n):
        rarest = sorted((1 / propensity[Y[i]]).tolist(), reverse=True)[:k]
        norm = sum(1 / np.log2(r + 2) for r in range(len(rarest)))
        for r, label in enumerate(labels[i, :k]):
            if label >= 0 and Y[i, label]:
                hits += 1
                recall += 1 / Y[i].sum() / n
                reached += 1 / propensity[label]
                discounted += 1 / propensity[label] / np.log2(r + 2) / norm
        best += sum(rarest)
        ideal += sum(gain / np.log2(r + 2) / norm for r, gain in enumerate(rarest))
    assert precision_at_k(Y, labels, k) == pytest.approx(hits / (n * k))
    assert recall_at_k(Y, labels, k) == pytest.approx(recall)
    assert psp_at_k(Y, labels, propensity, k) == pytest.approx(reached / best if best else 0)
    assert psndcg_at_k(Y, labels, propensity, k) == pytest.approx(
        discounted / ideal if ideal else 0
    )


@given(**CASES)
def test_means_over_labels_equal_dense_arithmetic(n, m, k, seed):
    Y, _, labels = ranking_case(n, m, seed)
    labels[0, 1:] = -1
    Y[:, 0] = False
    ranked = (labels[:, :k, None] == np.arange(m)).any(axis=1)
    present = Y.any(axis=0)
    hits = (ranked & Y).sum(axis=0)
    n_ranked = ranked.sum(axis=0)
    n_true = Y.sum(axis=0)
    for metric, values in (
        (macro_precision_at_k, hits / np.maximum(n_ranked, 1)),
        (macro_recall_at_k, hits / np.maximum(n_true, 1)),
        (macro_f1_at_k, 2 * hits / np.maximum(n_ranked + n_true, 1)),
        (coverage_at_k, hits > 0),
    ):
        expected = values[present].mean() if present.any() else 0
        assert metric(Y, labels, k) == pytest.approx(expected)


@given(**CASES)
def test_calibration_error_equals_plain_loop(n, m, k, seed):
    Y, scores, labels = ranking_case(n, m, seed)
    scores = np.take_along_axis(scores, labels, axis=1)
    labels[0, 1:] = -1
    scores[-1, 0] = 1.0
    errors = np.zeros(15)
    for i in range(n):
        for label, score in zip(labels[i, :k], scores[i]):
            if label >= 0:
                errors[min(int(score * 15), 14)] += Y[i, label] - score
    expected = np.abs(errors).sum() / np.count_nonzero(labels[:, :k] >= 0)
    assert ece_at_k(Y, labels, scores, k) == pytest.approx(expected)


@given(**CASES)
def test_ndcg_equals_scikit_learn(n, m, k, seed):
    Y, scores, labels = ranking_case(n, m, seed)
    assert ndcg_at_k(Y, labels, k) == pytest.approx(baseline.ndcg_score(Y, scores, k=k))


@given(**CASES)
def test_ndcg_equals_plain_loops_with_short_rankings_and_empty_sets(n, m, k, seed):
    Y, _, labels = ranking_case(n, m, seed)
    Y[0] = False
    labels[-1, 1:] = -1
    total = 0.0
    for truth, ranked in zip(Y, labels):
        gained = sum(1 / np.log2(r + 2) for r in range(k) if ranked[r] >= 0 and truth[ranked[r]])
        ideal = sum(1 / np.log2(r + 2) for r in range(min(k, truth.sum())))
        total += gained / ideal if ideal else 0.0
    assert ndcg_at_k(Y, labels, k) == pytest.approx(total / n)


@pytest.mark.needs("baselines")
def test_ranking_metrics_and_propensities_equal_napkinxc():
    import napkinxc.metrics as napkinxc

    rng = np.random.default_rng(7)
    Y = rng.random((200, 30)) < rng.random(30) * 0.3
    Y[:, 0] |= ~Y.any(1)  # napkinXC omits unlabelled instances from its means
    labels = np.argsort(-(Y * 0.3 + rng.random(Y.shape)), axis=1)[:, :5].astype(np.int32)
    truth = sparse.csr_matrix(Y.astype(np.float32))
    propensity = propensities(Y, 0.6, 2.6)
    expected = napkinxc.Jain_et_al_propensity(truth, A=0.6, B=2.6)
    np.testing.assert_allclose(propensity, expected, rtol=1e-6)
    for metric, theirs, further in (
        (precision_at_k, napkinxc.precision_at_k, []),
        (recall_at_k, napkinxc.recall_at_k, []),
        (ndcg_at_k, napkinxc.ndcg_at_k, []),
        (psp_at_k, napkinxc.psprecision_at_k, [propensity]),
        (psndcg_at_k, napkinxc.psndcg_at_k, [propensity]),
    ):
        weights = [1 / values for values in further]
        expected = theirs(truth, labels.tolist(), *weights, k=5)
        found = [metric(Y, labels, *further, k) for k in range(1, 6)]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_propensities_follow_formula_and_are_probabilities_in_tiny_datasets():
    Y = np.arange(1000)[:, None] < [500, 50, 5, 0]
    c = (np.log(1000) - 1) * 2.5**0.55
    expected = [1 / (1 + c * (f + 1.5) ** -0.55) for f in (500, 50, 5, 0)]
    np.testing.assert_allclose(propensities(Y, 0.55, 1.5), expected)
    for n in (0, 1, 2, 3):
        p = propensities(np.ones((n, 2), dtype=bool))
        assert ((p > 0) & (p <= 1)).all()


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            "WikiLSHTC-325K wikilshtc Wiki-500K wikipedia-500k WikipediaLarge-500K wikipedialarge "
            "LF-Wikipedia-500K LF-WikiTitles-500K WikiTitles-500K",
            (0.5, 0.4),
        ),
        (
            "Amazon-670K amazon-3m AmazonTitles-670K AmazonTitles-3M LF-Amazon-131K "
            "LF-AmazonTitles-131K LF-AmazonTitles-1.3M",
            (0.6, 2.6),
        ),
        (
            "EURLex-4K Eurlex eurlex-4k AmazonCat-13K AmazonCat-14K Wiki10-31K wiki10 "
            "Delicious-200K DeliciousLarge-200K LF-WikiSeeAlso-320K LF-WikiSeeAlsoTitles-320K "
            "WikiSeeAlsoTitles-350K rcv1-2k bibtex wikipara-3 aloi my-own-set kiwi",
            (0.55, 1.5),
        ),
    ],
)
def test_propensity_parameters_depend_on_dataset_name(names, expected):
    for name in names.split():
        for form in (
            name,
            name.lower(),
            name.upper(),
            name.replace("-", "_"),
            name.replace("-", ""),
        ):
            assert propensity_parameters(form) == expected


@pytest.mark.parametrize(
    "name",
    [
        "amazon-reviews",
        "Wiki-1M",
        "wikidata",
        "LF-Amazon-9K",
        "MM-AmazonTitles-300K",
        "amazon-670k-attentionxml",
        "my_Wiki-500K",
    ],
)
def test_dataset_named_like_a_known_family_needs_explicit_propensities(name):
    with raises_with(XmlcError, name, "propensity: [A, B]"):
        propensity_parameters(name)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"a": -1}, "a=-1"), ({"a": np.inf}, "a=inf"), ({"b": 0}, "b=0"), ({"b": np.nan}, "b=nan")],
)
def test_invalid_propensity_parameters_are_refused(parameters, message):
    with raises_with(XmlcError, message):
        propensities(np.ones((4, 2)), **parameters)


RANKING = np.array([[0, 1, 2, 3, 4]] * 2)
SCORES = np.full((2, 5), 1.5)


@pytest.mark.parametrize(
    ("metric", "arguments", "facts"),
    [
        (precision_at_k, (RANKING[:, :3], 4), "k=4"),
        (precision_at_k, (RANKING[:1], 1), ["2 instances"]),
        (precision_at_k, ([[0, 1], [2]], 1), []),
        (precision_at_k, (RANKING[0], 1), []),
        (ndcg_at_k, (RANKING.astype(float), 3), []),
        (ndcg_at_k, (RANKING + 2**32, 3), []),
        *[(ndcg_at_k, (RANKING, k), f"k={k!r}") for k in (0, 10**10, 2.5, "a", None, np.nan)],
        (ece_at_k, (RANKING, SCORES, 1), "scores"),
        (ece_at_k, (RANKING, SCORES[:1], 1), ["(2, 5)", "(1, 5)"]),
    ],
)
def test_rankings_and_scores_of_wrong_form_are_refused(metric, arguments, facts):
    with raises_with(XmlcError, facts):
        metric(np.zeros((2, 5)), *arguments)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([2, 0, 1, 2, -1], ["label 2", "row 1"]),
        ([0, 0, -1, -1, -1], ["label 0", "row 1"]),
        ([0, 1, 2, 3, 4], ["4", "row 1, column 4"]),
        ([0, 1, 2, -2, 3], ["-2", "row 1, column 3"]),
    ],
)
def test_rankings_with_invalid_labels_are_refused(row, message):
    Y = np.eye(4, dtype=bool)[:2]
    labels = np.array([[3, 0, 1, -1, -1], row])
    for measure in (precision_at_k, macro_f1_at_k):
        with raises_with(XmlcError, message):
            measure(Y, labels, 1)
    with raises_with(XmlcError, message):
        plot_precision_by_frequency(Y, Y, labels)


def test_label_sets_are_refused_as_rankings():
    Y = np.array([[1, 0, 0], [0, 1, 1]])
    for sets in (Y, sparse.csr_array(Y > 0)):
        with pytest.raises(XmlcError):
            precision_at_k(Y, sets, 1)
    # a ranking of all labels has the same shape
    assert precision_at_k(Y, [[0, 2, 1], [1, 0, 2]], 3) == 0.5


def test_sparse_scores_are_ranked_and_checked():
    Y = [[1, 0, 0], [0, 1, 1]]
    scores = np.array([[0.5, 0.1, -0.2], [0.4, 0.0, 0.4]])
    labels = np.array([[0, 1, 2], [0, 2, -1]])
    for form in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix):
        for k in (1, 3):
            assert ndcg_at_k(Y, form(scores), k) == ndcg_at_k(Y, labels, k)
    # k may exceed the number of labels, as in predict_top_k
    spe = sparse.csr_array(scores)
    assert precision_at_k(Y, spe, 5) == 2 / 10
    assert psndcg_at_k(Y, spe, np.ones(3), 10**10) == ndcg_at_k(Y, spe, 3)
    with raises_with(XmlcError, "(2, 2)", "2 instances", "3 labels"):
        ndcg_at_k(Y, spe[:, :2], 1)
    spe.data[-1] = np.nan
    with raises_with(XmlcError, "NaN", "row 1, label 2"):
        ndcg_at_k(Y, spe, 1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.ones(4), ["(4,)", "(5,)"]),
        ([0.5, 0.5, 0, 1, 1], ["label 2", "0"]),
        ([0.5, np.nan, 0.5, 1, 1], ["label 1", "nan"]),
        ([1.0, 2.0, 3.0, 1, 1], "1 / values"),
    ],
)
def test_invalid_propensities_are_refused(wrong, message):
    for measure in (psp_at_k, psndcg_at_k):
        with raises_with(XmlcError, message):
            measure(np.zeros((2, 5)), np.array([[0, 1, 2]] * 2), wrong, 1)


@settings(max_examples=20)
@given(**CASES)
def test_maximum_precision_equals_precision_of_true_labels(n, m, k, seed):
    Y = ranking_case(n, m, seed)[0]
    true_first = np.argsort(~Y, axis=1, kind="stable")
    assert maximum_precision_at_k(Y, k) == precision_at_k(Y, true_first, k)


@settings(max_examples=10)
@given(n=st.integers(1, 12), m=st.integers(5, 12), seed=st.integers(0, 999))
def test_standard_errors_equal_those_of_scores_per_instance(n, m, seed):
    """The standard error of one instance is 0."""
    Y, _, labels = ranking_case(n, m, seed)
    found = standard_errors(Y, labels)
    for name, metric in (("p", precision_at_k), ("ndcg", ndcg_at_k)):
        for k in (1, 3, 5):
            scores = [metric(Y[i : i + 1], labels[i : i + 1], k) for i in range(n)]
            expected = np.std(scores, ddof=1) / np.sqrt(n) if n > 1 else 0
            assert found[f"{name}@{k}"] == pytest.approx(expected)
