"""Test omikuji as an estimator. The tests need the extra `baselines`, which CI installs."""

import numpy as np
import pytest
from facts import raises_with
from scipy import sparse

from benchmarks.baselines.omikuji_parabel import OmikujiParabel
from xmlc.core.errors import XmlcError

pytestmark = pytest.mark.needs("baselines")
# The 12 labels are in several leaves, and the beam is narrower.
DEEP = {"min_branch_size": 4, "beam_size": 2, "n_jobs": 1}


@pytest.mark.parametrize("n_trees", [1, 3])
def test_wrapper_trains_and_ranks_like_omikuji(multilabel, n_trees):
    X, Y = multilabel(300, 20, 12, density=0.5)
    model = OmikujiParabel(n_trees=n_trees, **DEEP).fit(X, Y)
    assert model.model_.n_trees == n_trees
    labels, scores = model.predict_top_k(X, 12)
    assert (labels.dtype, scores.dtype) == (np.int32, np.float32)
    assert (labels == -1).any()
    for row, instance in enumerate(X.toarray().tolist()):
        answer = model.model_.predict(
            [(j, value) for j, value in enumerate(instance) if value], 2, 12
        )
        assert [label for label, _ in answer] == labels[row][labels[row] >= 0].tolist()
        np.testing.assert_allclose(
            [score for _, score in answer], scores[row, : len(answer)], rtol=1e-6
        )
    assert Y.toarray()[np.arange(300), labels[:, 0]].mean() > 0.6


def test_instances_without_features_or_labels_are_accepted(multilabel):
    X, Y = multilabel(200, 20, 6, density=0.5)
    features = X.toarray()
    labels = Y.toarray()
    features[:20] = 0
    labels[10:30] = False
    model = OmikujiParabel(n_trees=1, n_jobs=1).fit(
        sparse.csr_array(features), sparse.csr_array(labels)
    )
    best, scores = model.predict_top_k(sparse.csr_array(features), 3)
    assert (best >= 0).all()
    assert (scores[:20] == scores[0]).all()


def test_input_that_crashes_omikuji_is_refused(multilabel):
    X, Y = multilabel(50, 20, 6, density=0.5)
    with pytest.raises(XmlcError):
        OmikujiParabel().fit(X, sparse.csr_array(Y.shape, dtype=bool))
    with raises_with(XmlcError, "hinge", "log"):
        OmikujiParabel(loss="exp").fit(X, Y)
