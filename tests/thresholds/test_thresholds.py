"""STO, FTA and OFO: threads, empty input and refusals."""

from itertools import chain

import numba
import numpy as np
import pytest
from facts import raises_with
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from threshold_cases import random_case

from xmlc.core.errors import XmlcError
from xmlc.metrics import macro_f
from xmlc.thresholds import FTA, OFO, STO, CommonThreshold, apply_thresholds, tune
from xmlc.thresholds.one_pass import instances, label_tasks


@pytest.fixture
def large():
    """Return estimates and labels in several blocks of instances and ranges of labels."""
    rng = np.random.default_rng(2)
    spe = sparse.random_array((300, 9000), density=0.01, rng=rng, dtype=np.float32, format="csr")
    Y = sparse.random_array((300, 9000), density=0.01, rng=rng, format="csr") > 0.5
    return spe, sparse.csr_array(Y)


@pytest.mark.parametrize(
    "method",
    [
        STO(),
        CommonThreshold(),
        CommonThreshold("instance"),
        FTA(label_wise=True),
        FTA(),
        OFO(b=50),
    ],
)
def test_thresholds_are_bit_identical_on_any_number_of_threads(method, large, monkeypatch):
    expected = method.fit(*large).thresholds_.tobytes()
    monkeypatch.setattr("xmlc.kernels.csr.ENTRIES_PER_BLOCK", 20_000)
    monkeypatch.setattr(
        "xmlc.thresholds.one_pass.label_tasks", lambda counts: label_tasks(counts, 500)
    )
    assert [len(block.tasks) > 30 for block in instances(*large)] == [True, True]
    before = numba.get_num_threads()
    for n_threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        assert method.set_params(n_jobs=n_threads).fit(*large).thresholds_.tobytes() == expected
        numba.set_num_threads(n_threads)
        found = method.set_params(n_jobs=None).fit(*large).thresholds_.tobytes()
        numba.set_num_threads(before)
        assert found == expected


def test_empty_estimates_give_initial_thresholds():
    empty = sparse.csr_array((4, 3), dtype=np.float32)
    Y = sparse.csr_array(np.eye(4, 3) > 0)
    assert STO(kappa=0.1).fit(empty, Y).thresholds_.tolist() == [np.float32(0.1)] * 3
    assert OFO(b=2).fit(empty, Y).thresholds_.tolist() == [np.float32(1 / 3)] * 3
    assert FTA().fit(empty, Y).predict(empty).nnz == 0


def test_label_without_positives_predicts_nothing_and_scores_one():
    spe = np.float32([[0.9, 0.2], [0.4, 0.9], [0.0, 0.9]])
    Y = [[0, 0], [0, 1], [0, 1]]
    method = STO(kappa=0.1).fit(spe, Y)
    assert method.thresholds_[0] == np.float32(0.9)
    assert macro_f(Y, method.predict(spe)) == 1.0
    # the highest of tied thresholds
    assert FTA(grid=(2, 4), label_wise=True).fit(spe, Y).thresholds_[0] == 0.5


SPE, Y = random_case(4, 3, 0)


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        (lambda: OFO(a=3, b=4).fit(SPE, Y), ["a=3", "b=4"]),
        (lambda: FTA(grid=()).fit(SPE, Y), "c >= 1"),
        (lambda: FTA(grid=(0.5,)).fit(SPE, Y), "c >= 1"),
        (lambda: CommonThreshold("macro").fit(SPE, Y), ["average='macro'", "STO"]),
        (lambda: STO().fit(SPE, Y[:, :2]), ["(4, 3)", "(4, 2)"]),
        (lambda: STO().fit(np.ones(3), Y), ["(3,)", "2 dimensions"]),
        (lambda: STO(kappa=np.zeros(2)).fit(SPE, Y), ["kappa", "(2,)", "(3,)"]),
        (lambda: apply_thresholds(SPE, [0.1, np.nan, 0.2]), ["thresholds", "NaN"]),
        (lambda: tune("sto", SPE, Y, min_probability=5), ["min_probability", "5.0"]),
    ],
)
def test_invalid_input_is_refused(call, facts):
    with raises_with(XmlcError, facts):
        call()


@settings(max_examples=60)
@given(sizes=st.lists(st.integers(0, 40), max_size=30), entries=st.integers(1, 50))
def test_pieces_cover_each_label_once_in_order(sizes, entries):
    tasks = label_tasks(np.array(sizes, dtype=np.int64), entries)
    covered = list(chain.from_iterable(range(*task) for task in tasks))
    assert covered == list(range(len(sizes)))
    for start, end in tasks:  # the limit applies without the last label, and empty labels count
        assert sum(sizes[start : end - 1]) + (end - 1 - start) <= entries
