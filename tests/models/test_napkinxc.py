"""The peer behind our interface: the extra `peers` must be installed, as it is in CI."""

import numpy as np
import pytest

from xmlc.models.peers.napkinxc import NapkinXCPLT

pytest.importorskip("napkinxc", reason="the extra `peers` is not installed")


def test_peer_learns_saves_and_answers_like_an_estimator(tmp_path, multilabel):
    X, Y = multilabel(300, 20, 12, density=0.5)
    model = NapkinXCPLT(optimizer="adagrad", epochs=10, arity=4, n_jobs=1).fit(X, Y)
    everything = model.predict_proba(X)
    assert everything.shape == Y.shape
    assert everything.dtype == np.float32
    assert everything.data.max() <= 1
    spe = model.predict_proba(X, 0.3)
    np.testing.assert_allclose(spe.toarray(), np.where(everything.toarray() > 0.3, everything.toarray(), 0), atol=1e-6)
    labels, scores = model.predict_top_k(X, 3)
    np.testing.assert_allclose(scores, -np.sort(-everything.toarray(), axis=1)[:, :3], atol=1e-6)
    assert Y.toarray()[np.arange(300), labels[:, 0]].mean() > 0.6
    model.save(tmp_path / "model")
    loaded = NapkinXCPLT.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_top_k(X, 3)[0], labels)
