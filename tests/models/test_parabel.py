"""Parabel: the mean over trees, compared with brute force and with omikuji, and properties of
ensembles.
"""

import os
import shutil

import numpy as np
import pytest
from plt_descent_twin import all_estimates, best_of_beam
from sklearn.base import clone
from small_data import equal_bits, random_multilabel

from benchmarks.baselines.omikuji_parabel import OmikujiParabel
from xmlc.kernels.csr import NO_WEIGHTS, top_k_of
from xmlc.models import PLT, Parabel, parabel
from xmlc.models._averages import average_above, average_top_k
from xmlc.models.parabel import as_leaves
from xmlc.models.plt.estimator import BATCH_C

SMALL = {"max_leaf": 4, "beam": 2, "n_jobs": 1}  # 30 labels in 8 leaves, two of them in the beam


@pytest.fixture(scope="module")
def fitted():
    X, Y = random_multilabel(200, 20, 30, labels=3)
    return Parabel(**SMALL).fit(X, Y), X, Y


@pytest.mark.parametrize(("loss", "power"), [("squared_hinge", 2), ("logistic", 0)])
def test_scores_are_means_over_trees_of_a_plain_beam_search(multilabel, loss, power):
    X, Y = multilabel(40, 12, 30, labels=3)
    model = Parabel(loss=loss, weight_threshold=None, **SMALL).fit(X, Y)
    expected = np.zeros(Y.shape)
    for tree in model.trees_:
        of_instances = all_estimates(model._kernel_form(X), tree.nodes_, power)
        for i, of_nodes in enumerate(of_instances):
            labels, estimates, _ = best_of_beam(tree.nodes_, of_nodes, 30, 2)
            expected[i, labels] += estimates / 3
    found = model.predict_proba(X)
    assert found.has_sorted_indices
    assert 0 < (found.toarray() == 0).sum() < 40 * 30 * 0.9
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-4, atol=1e-7)


def test_rankings_and_thresholds_follow_scores(fitted):
    model, X, _ = fitted
    spe = model.predict_proba(X)
    for k in (1, 30):
        np.testing.assert_array_equal(model.predict_top_k(X, k), top_k_of(spe, k))
    dense = spe.toarray()
    limits = np.linspace(0, 0.5, 30, dtype=np.float32)
    above = model.predict_proba(X, limits).toarray()
    np.testing.assert_array_equal(above, np.where(dense > limits, dense, 0))


def test_scores_without_beam_are_means_of_all_estimates(fitted):
    model, X, Y = fitted
    trees = [clone(tree).fit(X, Y) for tree in model.trees_]  # each tree is also a PLT
    wide = clone(model).set_params(beam=None).fit(X, Y)
    of_trees = [tree.predict_proba(X).toarray().astype(np.float64) for tree in trees]
    expected = np.mean(of_trees, axis=0).astype(np.float32)
    np.testing.assert_array_equal(wide.predict_proba(X).toarray(), expected)
    assert (wide.inner_products_ == sum(tree.inner_products_ for tree in trees)).all()


def test_trees_use_given_arity_and_hinge_power(multilabel):
    X, Y = multilabel(100, 15, 30, labels=3)
    shape = {"arity": 4, "max_leaf": 4, "C": 1.0, "epochs": 20, "weight_threshold": 0.1}
    model = Parabel(n_trees=1, hinge_power=3, beam=None, **shape).fit(X, Y)
    of_tree = {"tree": "kmeans", "solver": "batch", "loss": "squared_hinge"}
    alone = PLT(random_state=model.trees_[0].random_state, **shape, **of_tree)
    estimates = model.predict_proba(X)
    assert equal_bits(estimates, alone.set_params(hinge_power=3).fit(X, Y).predict_proba(X))
    assert not equal_bits(estimates, alone.set_params(hinge_power=2).fit(X, Y).predict_proba(X))
    assert np.diff(model.trees_[0].tree_.children).max() == 4


def test_tree_does_not_depend_on_number_of_trees(fitted):
    model, X, Y = fitted
    single = clone(model).set_params(n_trees=1).fit(X, Y)
    first, second = (tree.tree_.label.tolist() for tree in model.trees_[:2])
    for one, other in zip(single.trees_[0].nodes_, model.trees_[0].nodes_, strict=True):
        np.testing.assert_array_equal(one, other)
    other_seed = single.set_params(random_state=1).fit(X, Y).trees_[0].tree_.label.tolist()
    assert first != second
    assert first != other_seed


def test_predictions_are_bit_identical_for_any_threads_and_blocks(fitted, monkeypatch, tmp_path):
    model, X, Y = fitted
    expected = model.predict_proba(X)
    costs = model.inner_products_
    parallel = clone(model).set_params(n_jobs=2).fit(X, Y)
    parallel.save(tmp_path / "model")
    monkeypatch.setattr("xmlc.models.parabel.LABELS_PER_BLOCK", 30 * 17)
    monkeypatch.setattr("xmlc.models.parabel.ROWS_PER_MEAN", 5)
    for other in (parallel, Parabel.load(tmp_path / "model").set_params(n_jobs=2)):
        assert equal_bits(other.predict_proba(X), expected)
        np.testing.assert_array_equal(other.inner_products_, costs)


@pytest.mark.needs("baselines")
def test_means_over_trees_equal_omikuji(multilabel, tmp_path):
    """The kernels average the predictions of omikuji's single trees.

    Omikuji does the same with three trees.
    """
    X, Y = multilabel(200, 20, 30, density=0.5)
    whole = OmikujiParabel(n_trees=3, min_branch_size=8, beam_size=3, n_jobs=1).fit(X, Y)
    whole.save(tmp_path / "whole")
    answers = []
    for t in range(3):
        folder = shutil.copytree(tmp_path / "whole", tmp_path / f"tree{t}")
        for other in {0, 1, 2} - {t}:
            os.remove(folder / "program" / f"tree{other}.cbor")
        os.rename(folder / "program" / f"tree{t}.cbor", folder / "program" / "tree0.cbor")
        answers.append(OmikujiParabel.load(folder).predict_proba(X))
    found = as_leaves(
        [(np.diff(spe.indptr), spe.indices.astype(np.int32), spe.data) for spe in answers]
    )
    labels, scores = average_top_k(*found, 0, 200, 30, 5, NO_WEIGHTS)
    their_labels, their_scores = whole.predict_top_k(X, 5)
    assert (labels == their_labels).mean() > 0.99  # Rounding may swap two labels.
    np.testing.assert_allclose(scores, their_scores, rtol=1e-5, atol=1e-7)
    counts, _, means = average_above(*found, 0, 200, np.zeros(30, dtype=np.float32))
    theirs = whole.predict_proba(X)
    np.testing.assert_array_equal(counts, np.diff(theirs.indptr))
    np.testing.assert_allclose(means, theirs.data, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("loss", "candidates"), BATCH_C.items())
def test_c_is_selected_from_the_candidates_of_the_loss(multilabel, loss, candidates):
    model = Parabel(loss=loss, n_trees=1, epochs=2, n_jobs=1).fit(*multilabel(60, 20, 8))
    assert model.C_ in candidates


@pytest.mark.parametrize(
    ("most", "usual"), [(8, parabel.FOR_FEW_LABELS), (7, parabel.FOR_MANY_LABELS)]
)
def test_defaults_depend_on_number_of_labels(multilabel, monkeypatch, tmp_path, most, usual):
    monkeypatch.setattr(parabel, "MANY_LABELS", most)
    X, Y = multilabel(60, 20, 8)
    model = Parabel(max_leaf=4, epochs=2, n_jobs=1).fit(X, Y)
    assert model._selected() == {**usual, "C": model.C_}
    estimates = model.predict_proba(X)
    model.save(tmp_path / "model")
    again = model.unfitted().set_params(**model._selected()).fit(X, Y)
    for other in (Parabel.load(tmp_path / "model"), again):
        assert other._selected() == model._selected()
        assert equal_bits(other.predict_proba(X), estimates)
    given = {"weight_threshold": None, "tol": 0, "arity": 4, "C": 2.0}
    model.set_params(**given).fit(X, Y)
    assert model._selected() == usual | given
