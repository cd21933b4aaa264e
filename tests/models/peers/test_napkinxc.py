"""The peer behind our interface: the extra `peers` must be installed, as it is in CI."""

import sys

import numpy as np
import pytest
from needs import require
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.models.peers.napkinxc import NapkinXCPLT

MODELS = {
    "adagrad": {"optimizer": "adagrad", "epochs": 10, "arity": 4},
    "liblinear": {"optimizer": "liblinear", "tree_type": "hierarchicalKmeans", "arity": 2},
}


@pytest.fixture(params=MODELS)
def fitted(request, multilabel):
    """A fitted model and its data."""
    require("peers")
    X, Y = multilabel(300, 20, 12, density=0.5)
    return NapkinXCPLT(n_jobs=1, **MODELS[request.param]).fit(X, Y), X, Y


def test_peer_learns_saves_and_answers_like_an_estimator(tmp_path, fitted):
    model, X, Y = fitted
    everything = model.predict_proba(X)
    assert everything.shape == Y.shape
    assert everything.dtype == np.float32
    assert everything.data.max() <= 1
    labels, scores = model.predict_top_k(X, 3)
    np.testing.assert_allclose(scores, -np.sort(-everything.toarray(), axis=1)[:, :3], atol=1e-6)
    assert Y.toarray()[np.arange(300), labels[:, 0]].mean() > 0.6
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_top_k(X, 3)[0], labels)


def test_every_estimate_above_its_threshold_is_there(fitted):
    """The program itself gives too many when it is asked with thresholds."""
    model, X, _ = fitted
    everything = model.predict_proba(X).toarray()
    assert (everything > 0).mean() > 0.9
    limits = np.random.default_rng(0).uniform(0, 0.6, size=12).astype(np.float32)
    for threshold in (limits, np.full(12, 0.2, dtype=np.float32), np.float32(0.2), np.full(12, np.inf)):
        spe = model.predict_proba(X, threshold).toarray()
        np.testing.assert_array_equal(spe, np.where(everything > threshold, everything, 0))


def test_labels_are_ranked_as_the_program_ranks_them(fitted):
    model, X, _ = fitted
    labels, _ = model.predict_top_k(X, 5)
    assert labels.tolist() == model.model_.predict(sparse.csr_matrix(X), top_k=5)


def test_without_the_program_the_error_says_how_to_get_it(multilabel, monkeypatch):
    monkeypatch.setitem(sys.modules, "napkinxc.models", None)
    with pytest.raises(XmlcError, match=r"\[peers\]"):
        NapkinXCPLT().fit(*multilabel(50, 20, 6))
