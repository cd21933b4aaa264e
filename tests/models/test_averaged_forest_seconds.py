"""How long a forest says that it will take, beside what was measured, and when it says so."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from xmlc.models import FastXML, LdSM, averaged_forest
from xmlc.models.averaged_forest import A_LONG_TIME
from xmlc.runtime.progress import in_hours

# Of the training sets: instances, features, non-zeros of X and of Y.
SETS = {
    "scene": (1211, 294, 351805, 1286),
    "enron": (1123, 1001, 94535, 3803),
    "bibtex": (4880, 1836, 335439, 11684),
    "delicious": (12920, 500, 231722, 245937),
    "tib-core-26k, 5,000 instances": (5000, 111663, 492999, 15382),
    "tib-core-26k, 20,000 instances": (20_000, 111663, 1886766, 58265),
}
GROWS = {"epochs": 5, "lambda_1": 1.0, "learning_rate": 0.3, "max_nodes": 2000}  # whatever the set is
FIVE, TWENTY = ({"epochs": epochs, "max_nodes": 2000} for epochs in (5, 20))
# Processor seconds of a tree, measured in this project on the machine that the docstring names.
MEASURED = [
    ("scene", FastXML, {}, 0.073),
    ("scene", FastXML, {"max_leaf": 100}, 0.052),
    ("scene", LdSM, GROWS, 0.259),
    ("enron", FastXML, {}, 0.024),
    ("enron", LdSM, GROWS, 0.144),
    ("bibtex", FastXML, {}, 0.129),
    ("bibtex", FastXML, {"max_leaf": 100}, 0.071),
    ("bibtex", LdSM, FIVE, 0.218),
    ("bibtex", LdSM, TWENTY, 0.668),
    ("bibtex", LdSM, FIVE | {"max_nodes": 500}, 0.172),
    ("bibtex", LdSM, FIVE | {"arity": 4}, 0.527),
    ("delicious", FastXML, {}, 0.212),
    ("delicious", FastXML, {"max_leaf": 100}, 0.125),
    ("delicious", LdSM, FIVE, 0.413),
    ("delicious", LdSM, TWENTY, 1.075),
    ("delicious", LdSM, FIVE | {"max_nodes": 500}, 0.265),
    ("delicious", LdSM, FIVE | {"arity": 4}, 0.677),
    ("tib-core-26k, 5,000 instances", FastXML, {}, 0.085),
    ("tib-core-26k, 5,000 instances", LdSM, FIVE, 0.502),
    ("tib-core-26k, 20,000 instances", FastXML, {}, 0.457),
    ("tib-core-26k, 20,000 instances", LdSM, FIVE, 1.744),
]


def of_size(n, d, nonzeros, labels):
    """All that an estimate looks at."""
    return SimpleNamespace(shape=(n, d), nnz=nonzeros), SimpleNamespace(shape=(n, 10), nnz=labels)


@pytest.mark.parametrize(("name", "kind", "values", "seconds"), MEASURED)
def test_an_estimate_is_within_a_factor_of_three_of_what_was_measured(name, kind, values, seconds):
    found = kind(**values)._seconds_of_tree(*of_size(*SETS[name]))
    assert seconds / 3 < found < 3 * seconds


@pytest.mark.parametrize("model", [FastXML(), LdSM(epochs=20), LdSM(epochs=20, arity=4), LdSM(optimizer="sgd")])
def test_more_data_takes_longer(model):
    n, d, nonzeros, labels = SETS["bibtex"]
    once = model._seconds_of_tree(*of_size(n, d, nonzeros, labels))
    twice = model._seconds_of_tree(*of_size(2 * n, d, 2 * nonzeros, 2 * labels))
    assert 1.9 * once < twice < 2.5 * once


@pytest.mark.parametrize(
    ("less", "more"),
    [
        (FastXML(max_leaf=100), FastXML(max_leaf=10)),
        (LdSM(epochs=5), LdSM(epochs=20)),
        (LdSM(max_nodes=250), LdSM(max_nodes=4000)),
        (LdSM(), LdSM(optimizer="sgd")),
    ],
)
def test_larger_trees_and_more_passes_take_longer(less, more):
    data = of_size(*SETS["bibtex"])
    assert less._seconds_of_tree(*data) < more._seconds_of_tree(*data)


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    return sparse.csr_array(rng.random((60, 8), dtype=np.float32)), sparse.csr_array(rng.random((60, 3)) < 0.4)


@pytest.mark.parametrize("kind", [FastXML, LdSM])
def test_threads_grow_one_tree_each(small, kind):
    one = kind(n_trees=1, n_jobs=1).expected_seconds(*small)
    assert kind(n_trees=50, n_jobs=1).expected_seconds(*small) == pytest.approx(50 * one)
    assert kind(n_trees=50, n_jobs=8).expected_seconds(*small) == pytest.approx(7 * one)
    assert kind(n_trees=50, n_jobs=8).expected_seconds(*small, n_trees=10) == pytest.approx(2 * one)


def said_of(model, data, seconds_of_tree, monkeypatch, capsys):
    monkeypatch.setattr(type(model), "_seconds_of_tree", lambda self, X, Y: seconds_of_tree)
    model.fit(*data)
    return [line for line in capsys.readouterr().err.splitlines() if "trees on this set" in line]


def test_what_takes_hours_says_so_before_it_starts(small, monkeypatch, capsys):
    (line,) = said_of(FastXML(n_trees=20, n_jobs=2), small, 2000.0, monkeypatch, capsys)
    assert line.startswith(
        "FastXML: 20 trees on this set take about 6 h on 2 threads; n_trees=10 takes about 3 h (right"
    )
    assert "scatter=N spreads the trees over N jobs" in line
    (line,) = said_of(LdSM(n_trees=4, max_nodes=5, n_jobs=2), small, 2000.0, monkeypatch, capsys)
    assert "4 trees on this set take about 67 min on 2 threads (right" in line
    assert said_of(LdSM(n_trees=4, max_nodes=5, n_jobs=2), small, A_LONG_TIME / 2 - 1, monkeypatch, capsys) == []


def test_a_share_of_the_trees_says_what_the_share_takes(small, monkeypatch, capsys):
    monkeypatch.setattr(FastXML, "_seconds_of_tree", lambda self, X, Y: 3000.0)
    FastXML(n_trees=20, n_jobs=1).fit_trees(*small, 4, 6)
    assert "2 trees on this set take about 2 h on 1 threads" in capsys.readouterr().err
    monkeypatch.setattr(averaged_forest, "A_LONG_TIME", 1e9)
    FastXML(n_trees=20, n_jobs=1).fit_trees(*small, 4, 6)
    assert "trees on this set" not in capsys.readouterr().err


def test_long_times_are_said_in_the_unit_that_fits():
    times = {
        30: "1 min",
        3600: "60 min",
        5300: "88 min",
        5400: "2 h",
        18_000: "5 h",
        120_000: "33 h",
        130_000: "2 days",
    }
    assert {seconds: in_hours(seconds) for seconds in times} == times
