"""Predictions in several threads: each call has the result that it has alone, and changes no
model.
"""

import copy
import pickle
import sys
from itertools import product
from operator import methodcaller
from threading import Thread

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from small_data import random_multilabel
from small_models import OURS, small

from xmlc import TextClassifier
from xmlc.models import PLT, FastXML, Parabel, Stacking
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.wrapped import Wrapped
from xmlc.thresholds import LabelSets

N_THREADS = 8
N_CALLS = 12


class Own(SparseProbabilityEstimator):
    """A user's model, which counts inner products in the attribute of the class."""

    def __init__(self, power=1.0):
        self.power = power

    def fit(self, X, Y):
        X, Y = self._training_data(X, Y)
        self.sums_ = (Y.T.astype(np.float32) @ X).toarray()
        return self

    def predict_proba(self, X, threshold=0.0):
        X = self._instances(X)
        estimates = np.clip(X @ self.sums_.T, 0, 1).astype(np.float32)
        self.inner_products_ = np.full(X.shape[0], self.n_labels_)
        return sparse.csr_array(
            np.where(estimates > self._label_thresholds(threshold), estimates, 0)
        )


MODELS = {name: small(name) for name in OURS} | {
    "parabel of three trees": Parabel(n_trees=3, n_jobs=2),
    "pfastrexml": FastXML(n_trees=2, propensity_weighted=True, alpha=0.8, n_jobs=2),
    "beam": PLT(epochs=2, search="beam", beam=2),
    "nested stacking": Stacking([("inner", Stacking()), ("own", Own())], n_jobs=2),
    "wrapped": Wrapped(OneVsRestClassifier(LogisticRegression())),
    "own": Own(),
}


@pytest.fixture(scope="module")
def data():
    return random_multilabel(80, 20, 12, seed=1)


@pytest.fixture(autouse=True)
def frequent_switches():
    """Switch threads often, so that a shared attribute is overwritten within a call."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def plain(value):
    """Return a result in a form that `==` compares bit by bit."""
    if sparse.issparse(value):
        return plain([value.indptr, value.indices, value.data])
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def check_in_threads(calls, fresh):
    """Compare the results of calls in eight threads with the results of the same calls one after
    another.

    ``fresh`` returns a model without caches, so that caches, too, are filled by several threads at
    once.
    """
    alone = fresh()
    expected = [plain(call(alone)) for call in calls]
    shared = fresh()
    faults = []

    def work(first):
        for step in range(N_CALLS):
            place = (first * 5 + step) % len(calls)
            try:
                if plain(calls[place](shared)) != expected[place]:
                    faults.append(f"call {place} has another result")
            except Exception as error:
                faults.append(f"call {place}: {type(error).__name__}: {error}")

    threads = [Thread(target=work, args=[first]) for first in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def calls_for(X, Y, weights, folder):
    """Return calls of every public method that does not fit, with one to four rows."""

    def saved(model):
        model.save(folder / f"{np.random.default_rng().integers(1 << 60)}")

    def blocks(model):
        found = []
        model.estimate_blocks(X[:7], 0.01, 2, found.append)
        return found

    def copied(model):
        return [each.predict_top_k(X[:2], 2) for each in (copy.copy(model), copy.deepcopy(model))]

    def pickled(model):
        return pickle.loads(pickle.dumps(model)).predict_top_k(X[:3], 2)

    calls = [
        lambda model: repr(model.warm_up()),
        lambda model: sorted(model.get_params()),
        blocks,
        copied,
        pickled,
        saved,
    ]
    for n in (1, 2, 3, 4):
        part = X[n : 2 * n]
        own = weights * n
        calls += [
            methodcaller("predict_proba", part, 0.01),
            methodcaller("predict_top_k", part, 3),
            methodcaller("predict_top_k", part, 3, own),
            methodcaller("predict", part),
            methodcaller("score", part, Y[n : 2 * n]),
            methodcaller("rank_one", part[[0]].indices, part[[0]].data, 2, own),
        ]
    return calls


@pytest.mark.parametrize("name", MODELS)
def test_results_of_threads_equal_results_alone(name, data, tmp_path):
    X, Y = data
    stored = pickle.dumps(MODELS[name].unfitted().fit(X, Y))
    check_in_threads(calls_for(X, Y, np.arange(1.0, 13.0), tmp_path), lambda: pickle.loads(stored))


@pytest.mark.parametrize("name", ["nested stacking", "parabel of three trees", "swnn"])
def test_predictions_and_copies_change_neither_members_nor_original(name, data):
    X, Y = data
    model = MODELS[name].unfitted().fit(X, Y)
    model.predict_top_k(X[:5], 3)  # fills the memory that is kept between predictions
    members = [*getattr(model, "members_", {}).values(), *getattr(model, "trees_", [])]
    before = [(owner, vars(owner).copy()) for owner in (model, *members)]
    for copied in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        copied.predict_top_k(X[:5], 3)
        copied.predict_proba(X[:4])
        copied.predict(X[:3])
        assert copied.inner_products_.shape == (3,)
    for owner, attributes in before:
        assert vars(owner).keys() == attributes.keys()
        assert all(vars(owner)[key] is value for key, value in attributes.items())


def test_threads_of_members_follow_set_params(data):
    model = Stacking([("inner", Stacking(n_jobs=1)), ("own", Own())], n_jobs=1).fit(*data)
    model.set_params(n_jobs=3)
    inner = model.members_["inner"]
    assert inner.n_jobs == 3
    assert [member.n_jobs for member in inner.members_.values()] == [3, 3, 3]


def test_texts_have_the_same_labels_in_threads():
    words = ["rice", "onion", "rose", "tulip", "pan", "spade", "soup", "hedge"]
    texts = [f"{first} {second}" for first, second in product(words, words)]
    sets = [["cooking"] if text.split()[0] in words[:2] else ["garden", "home"] for text in texts]
    stored = pickle.dumps(TextClassifier().fit(texts, sets))
    calls = []
    for n in (1, 2, 3, 4):
        part = texts[n : 2 * n]
        calls += [
            methodcaller("predict", part),
            methodcaller("predict", part, 2),
            methodcaller("predict_sets", part),
            methodcaller("predict_proba", part),
            methodcaller("features", part),
            methodcaller("score", part, sets[n : 2 * n]),
        ]
    check_in_threads(calls, lambda: pickle.loads(stored))


@pytest.mark.parametrize("measure", ["macro_f", "instance_f"])
def test_label_sets_are_the_same_in_threads(measure, data):
    spe = small("br").fit(*data).predict_proba(data[0])
    method = LabelSets(measure).fit(spe, data[1])
    calls = [methodcaller("predict", spe[n : 2 * n]) for n in (1, 2, 3, 4)]
    check_in_threads(calls, lambda: method)
