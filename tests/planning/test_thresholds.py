"""What planning knows of threshold methods beside the methods themselves."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.planning.thresholds import is_label_wise, tuning_seconds, values_of
from xmlc.thresholds.bounds import GRID
from xmlc.thresholds.tune import METHODS, tune


def few_estimates():
    rng = np.random.default_rng(0)
    spe = sparse.csr_array(rng.random((200, 5), dtype=np.float32) ** 3)
    return spe, sparse.csr_array(rng.random((200, 5)) < spe.toarray())


@pytest.mark.parametrize("method", METHODS)
def test_a_method_tries_so_many_values(method):
    spe, Y = few_estimates()
    assert len(tune(method, spe, Y, np.full(5, 0.2)).grid) == values_of(method)


def test_methods_by_what_their_thresholds_are():
    assert [method for method in ("sto", "for-macro-f2", "fta-labelwise", "fta", "ofo", "for-micro-f", "mine")
            if is_label_wise(method)] == ["sto", "for-macro-f2", "fta-labelwise"]  # fmt: skip
    assert values_of("mine") == len(GRID)


def test_seconds_grow_with_values_estimates_and_labels():
    assert (
        tuning_seconds("for-micro-f", 1e6, 1e3) < tuning_seconds("sto", 1e6, 1e3) < tuning_seconds("ofo-ab", 1e6, 1e3)
    )
    assert tuning_seconds("sto", 1e6, 1e3) < tuning_seconds("sto", 2e6, 1e3)
    assert tuning_seconds("sto", 1e6, 1e3) < tuning_seconds("sto", 1e6, 1e5)
