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
from xmlc.thresholds import FTA, OFO, STO, CommonThreshold
from xmlc.thresholds.one_pass import instances, label_tasks


@pytest.fixture
def large():
    """Return estimates and labels in several blocks of instances and ranges of labels."""
    rng = np.random.default_rng(2)
    spe = sparse.random_array((300, 9000), density=0.01, rng=rng, dtype=np.float32, format="csr")
    Y = sparse.random_array((300, 9000), density=0.01, rng=rng, format="csr") > 0.5
    return spe, sparse.csr_array(Y)


@pytest.mark.parametrize(
    "method", [STO(), CommonThreshold(), FTA(label_wise=True), FTA(), OFO(b=50)]
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
    spe = sparse.csr_array(np.array([[0.9, 0.2], [0.4, 0.9], [0.0, 0.9]], dtype=np.float32))
    # row 0 has no labels
    Y = sparse.csr_array(np.array([[False, False], [False, True], [False, True]]))
    method = STO(kappa=0.1).fit(spe, Y)
    assert method.thresholds_[0] == np.float32(0.9)
    assert macro_f(Y, method.predict(spe)) == 1.0
    # the highest of tied thresholds
    assert FTA(grid=(2, 4), label_wise=True).fit(spe, Y).thresholds_[0] == 0.5


def test_invalid_ofo_parameters_and_fta_grids_are_refused():
    pair = random_case(4, 3, 0)
    with raises_with(XmlcError, "a=3", "b=4"):
        OFO(a=3, b=4).fit(*pair)
    with raises_with(XmlcError, "a=1", "b=0"):
        OFO(a=1, b=0).fit(*pair)
    for grid in ((), (0, 2), (0.5,)):
        with raises_with(XmlcError, "c >= 1"):
            FTA(grid=grid).fit(*pair)


@settings(deadline=None, max_examples=60)
@given(sizes=st.lists(st.integers(0, 40), max_size=30), entries=st.integers(1, 50))
def test_pieces_cover_each_label_once_in_order(sizes, entries):
    tasks = label_tasks(np.array(sizes, dtype=np.int64), entries)
    covered = list(chain.from_iterable(range(*task) for task in tasks))
    assert covered == list(range(len(sizes)))
    for start, end in tasks:  # the limit applies without the last label, and empty labels count
        assert sum(sizes[start : end - 1]) + (end - 1 - start) <= entries
