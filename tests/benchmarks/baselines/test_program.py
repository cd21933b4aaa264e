"""Test the features that all wrapped programs share: estimates, rankings, files, and no output.

The tests of the programs need the extra `baselines`, which CI installs.
"""

import os

import numpy as np
import pytest
from facts import raises_with

from benchmarks.baselines.napkinxc_trees import NapkinXCIPLT, NapkinXCOPLT, NapkinXCPLT
from benchmarks.baselines.omikuji_parabel import OmikujiParabel
from benchmarks.baselines.program import silenced_output

ONLINE = {"max_leaf": 4, "epochs": 3}
# The 12 labels are in several leaves, and the beam is narrower.
DEEP = {"min_branch_size": 4, "beam_size": 2}
MODELS = {
    "adagrad": (NapkinXCPLT, {"optimizer": "adagrad", "epochs": 10, "arity": 4}),
    "liblinear": (
        NapkinXCPLT,
        {"optimizer": "liblinear", "tree_type": "hierarchicalKmeans", "arity": 2},
    ),
    "best-greedy": (NapkinXCOPLT, ONLINE),
    "warm": (NapkinXCOPLT, {"warm_start": 0.3} | ONLINE),
    "iplt": (NapkinXCIPLT, ONLINE),
    "omikuji": (OmikujiParabel, {"n_trees": 1, "loss": "log"} | DEEP),
}


@pytest.mark.needs("baselines")
@pytest.mark.parametrize("name", MODELS)
def test_wrapped_program_behaves_like_estimator(tmp_path, multilabel, name):
    X, Y = multilabel(300, 20, 12, density=0.5)
    estimator, hyperparameters = MODELS[name]
    model = estimator(n_jobs=1, **hyperparameters).fit(X, Y)
    dense = model.predict_proba(X).toarray()
    assert (dense.shape, dense.dtype) == (Y.shape, np.float32)
    assert dense.max() <= 1
    labels, scores = model.predict_top_k(X, 5)
    np.testing.assert_allclose(scores, -np.sort(-dense, axis=1)[:, :5], atol=1e-6)
    np.testing.assert_allclose(
        np.take_along_axis(dense, np.maximum(labels, 0), axis=1)[labels >= 0], scores[labels >= 0]
    )
    assert Y.toarray()[np.arange(300), labels[:, 0]].mean() > 0.6
    # With a threshold for each label, napkinXC itself returns too many labels.
    for limits in (np.linspace(0, 0.6, 12, dtype=np.float32), np.float32(0.2), np.full(12, np.inf)):
        np.testing.assert_array_equal(
            model.predict_proba(X, limits).toarray(), np.where(dense > limits, dense, 0)
        )
    assert model.inner_products_ is None
    for _ in range(2):  # Omikuji would add its trees to an earlier model's trees.
        model.save(tmp_path / "model")
    loaded = estimator.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    np.testing.assert_allclose(loaded.predict_proba(X).toarray(), dense, atol=1e-6)


def write_all(end):
    for descriptor in (1, 2):
        os.write(descriptor, end)


@silenced_output()
def fail_loudly():
    write_all(b"progress")
    raise ValueError("broken")


def test_output_is_hidden_only_inside_block_even_after_failure(capfd):
    with raises_with(ValueError, "broken"):
        fail_loudly()
    write_all(b"behind")
    assert capfd.readouterr() == ("behind", "behind")
