"""Defaults of a PLT: the arity by the number of labels with instances, and the smaller form of its
weights.
"""

import numpy as np
import pytest
from plt_cases import drop_small, nbytes

from xmlc.models import PLT
from xmlc.models.plt import estimator, training
from xmlc.models.plt.estimator import usual_arity
from xmlc.models.plt.weights import CompactNodeWeights

SOME = {"tree": "random", "arity": 4, "epochs": 3, "n_jobs": 1}


def assert_same_nodes(found, expected):
    assert type(found) is type(expected)
    for name, array in expected._asdict().items():
        np.testing.assert_array_equal(getattr(found, name), array, err_msg=name)


def test_usual_arity_depends_on_number_of_labels():
    limits = {0: 16, 6_400: 16, 6_401: 32, 18_000: 32, 18_001: 64, 51_000: 64, 51_001: 128}
    for n_labels, arity in limits.items():
        assert usual_arity("kmeans", "batch", n_labels) == arity
        assert usual_arity("kmeans", "sgd", n_labels) == (arity if n_labels <= 18_000 else 16)
        assert usual_arity("random", "batch", n_labels) == 16


def test_default_arity_counts_only_labels_with_instances(multilabel, monkeypatch):
    monkeypatch.setattr(estimator, "USUAL_ARITY", {8: 2, 20: 4})
    X, Y = multilabel(80, 20, 12)
    assert PLT(epochs=1).fit(X, Y).arity_ == 4
    few = Y.copy()
    few.data &= few.indices < 8
    few.eliminate_zeros()
    assert PLT(epochs=1).fit(X, few).arity_ == 2
    assert PLT(epochs=1, arity=8).fit(X, few).arity_ == 8
    assert PLT(epochs=1, tree="random").fit(X, few).arity_ == 16


@pytest.mark.parametrize(("C", "threshold"), [(0.05, 0.1), (100, None)])
def test_smaller_form_of_weights_is_selected(multilabel, tmp_path, C, threshold):
    X, Y = multilabel(200, 30, 40, seed=2)
    model = PLT(C=C, **SOME).fit(X, Y)
    assert model.weight_threshold_ == threshold
    forms = {}
    for cut in (None, 0.1):
        forms[cut] = PLT(C=C, weight_threshold=cut, **SOME).fit(X, Y).nodes_
    assert_same_nodes(model.nodes_, min(forms.values(), key=nbytes))
    assert_same_nodes(model.nodes_, forms[threshold])
    on_disk = PLT(C=C, **SOME).fit_to_disk(tmp_path / "model", X, Y)
    again = model.unfitted().set_params(**model._selected()).fit(X, Y)
    for other in (on_disk, PLT.load(tmp_path / "model"), again):
        assert_same_nodes(other.nodes_, model.nodes_)
        assert other._selected() == model._selected()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_only_a_single_batch_of_nodes_is_compared(multilabel, monkeypatch, n_jobs):
    X, Y = multilabel(300, 40, 60, seed=4)
    model = PLT(tree="random", arity=4, epochs=3, n_jobs=n_jobs, C=1)
    whole = model.unfitted().set_params(weight_threshold=None).fit(X, Y).nodes_
    for weights_per_batch, is_smaller, drops in (
        (1 << 25, True, True),
        (1 << 25, False, False),
        (500, False, True),
    ):
        monkeypatch.setattr(training, "WEIGHTS_PER_WAVE", weights_per_batch)
        monkeypatch.setattr(training, "rows_are_smaller", lambda *_, answer=is_smaller: answer)
        found = model.unfitted().fit(X, Y)
        assert_same_nodes(found.nodes_, drop_small(whole, 0.1) if drops else whole)
        assert found.weight_threshold_ == (0.1 if drops else None)


@pytest.mark.parametrize("options", [{"unit_norm": False}, {"hash_bits": 10}])
def test_all_weights_are_kept_without_unit_norm_or_with_hashing(multilabel, options):
    X, Y = multilabel(60, 20, 8)
    model = PLT(C=0.01, **SOME | options).fit(X, Y)
    assert model.weight_threshold_ is None
    assert not isinstance(model.nodes_, CompactNodeWeights)


def test_model_of_earlier_version_has_given_hyperparameters_as_selected(
    multilabel, monkeypatch, tmp_path
):
    model = PLT(weight_threshold=0.1, C=2, **SOME).fit(*multilabel(60, 20, 8))
    with monkeypatch.context() as earlier:
        earlier.setattr(PLT, "_selected", lambda model: {})
        model.save(tmp_path / "model")
    loaded = PLT.load(tmp_path / "model")
    assert loaded._selected() == {"C": 2, "arity": 4, "weight_threshold": 0.1}
