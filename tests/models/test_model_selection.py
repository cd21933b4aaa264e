"""Hyperparameters selected on the training set, compared with a plain cross-validation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_data import equal_bits, marked_instances

from xmlc.models import OPLT, PLT, Parabel, model_selection

CASES = [(Parabel, "C"), (OPLT, "gamma"), (PLT.for_ranking, "C")]
HITS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30)


def selected_by_twin(cls, name, X, Y, size):
    """Select by 3-fold cross-validation: the smaller value if it has a better P@1."""
    rows = model_selection.sample(X.shape[0], size)
    few = {"n_trees": 1} if cls is Parabel else {}
    hits = {1.0: 0, 0.3: 0}
    for value in hits:
        for fold in range(3):
            out = rows[fold::3]
            others = np.delete(rows, np.s_[fold::3])
            model = cls(**few, **{name: value}).fit(X[others], Y[others])
            best = model.predict_top_k(X[out], 1)[0][:, 0]
            hits[value] += Y.toarray()[out, best].sum()
    return 0.3 if hits[0.3] > hits[1.0] else 1.0


@pytest.mark.parametrize(("cls", "name"), CASES)
@pytest.mark.parametrize("size", [1000, 150])
def test_value_is_selected_by_cross_validation(cls, name, size, monkeypatch, tmp_path):
    monkeypatch.setattr(model_selection, "SAMPLE", size)
    chosen = set()
    for wrong in (0.0, 0.6):
        X, Y = marked_instances(240, 60, 4, wrong=wrong)
        model = cls(n_jobs=1).fit(X, Y)
        value = getattr(model, f"{name}_")
        assert value == selected_by_twin(cls, name, X, Y, size)
        chosen.add(value)
        model.save(tmp_path / "model")
        loaded = type(model).load(tmp_path / "model")
        refitted = cls(**{name: value}).fit(X, Y)
        for other in (loaded, refitted):
            assert getattr(other, f"{name}_") == value
            assert equal_bits(other.predict_proba(X), model.predict_proba(X))
    assert chosen == {1.0, 0.3}


@pytest.mark.parametrize(("cls", "name"), CASES)
def test_default_is_kept_with_few_instances_or_no_labels(cls, name):
    for n, label in ((1, True), (5, True), (9, False)):
        model = cls(n_jobs=1).fit(np.eye(n, 3), np.full((n, 2), label))
        assert getattr(model, f"{name}_") == 1


def test_stream_uses_step_of_paper_until_fit_selects_another():
    X, Y = marked_instances(240, 60, 4, wrong=0.6)
    assert OPLT().partial_fit(X, Y).gamma_ == 1
    assert OPLT(gamma=0.5).partial_fit(X, Y).gamma_ == 0.5
    fitted = OPLT(n_jobs=1, online=True).fit(X, Y)
    assert fitted.partial_fit(X, Y).gamma_ == 0.3
    refitted = OPLT(gamma=0.3, n_jobs=1, online=True).fit(X, Y).partial_fit(X, Y)
    assert equal_bits(fitted.predict_proba(X), refitted.predict_proba(X))


def test_default_c_of_plt_depends_on_solver_and_data():
    few = marked_instances(240, 60, 4, wrong=0.6)
    many = marked_instances(240, 300, 40)
    assert PLT(n_jobs=1).fit(*many).C_ == 3
    assert PLT(n_jobs=1, C=2).fit(*many).C_ == 2
    batch = PLT(solver="batch", n_jobs=1)
    assert batch.fit(*few).C_ == 3
    assert batch.fit(*many).C_ == 10


@given(HITS)
def test_is_better_compares_weighted_hits(pairs):
    hits, usual = np.array(pairs).T
    gains = hits.astype(float) - usual
    assert model_selection.is_better(hits, usual) == (gains.sum() > 0)
    weights = 1 + np.arange(hits.size, dtype=np.float32) % 3
    assert model_selection.is_better(hits, usual, weights) == (gains @ weights > 0)
