"""Instances in batches: each once, in order, as few batches as keep all threads busy."""

import numpy as np
import pytest

from xmlc.csr import KernelCSR
from xmlc.models.plt.search import queries
from xmlc.models.plt.search.queries import Queries


def queries_of(n, n_jobs):
    x = KernelCSR(np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.float32))
    return Queries(x, 0, (1, 0, 1), n_jobs, "")


@pytest.mark.parametrize(
    ("n", "n_jobs", "expected"),
    [
        (0, 2, []),
        (1, 2, [(0, 1)]),
        (7, 1, [(0, 7)]),
        (7, 2, [(0, 4), (4, 7)]),
        (20, 1, [(0, 10), (10, 20)]),
        (25, 2, [(0, 7), (7, 14), (14, 21), (21, 25)]),
    ],
)
def test_batches_are_few_and_not_large(monkeypatch, n, n_jobs, expected):
    monkeypatch.setattr(queries, "ROWS_PER_BATCH", 10)
    asked = queries_of(n, n_jobs)
    assert asked.batches() == expected
    assert (asked.n_rows, asked.n_threads) == (n, n_jobs)


@pytest.mark.parametrize("n", [0, 5, 600])
def test_kernels_get_their_rows_and_results_are_joined(n):
    def kernel(x, start, end, nodes, link, factor, shape):
        return np.arange(start, end) * factor, np.full(end - start, nodes)

    asked = queries_of(n, 2)
    for run in (asked.in_batches, asked.one_by_one):
        first, second = run(kernel, 9, 3)
        np.testing.assert_array_equal(first, 3 * np.arange(n))
        np.testing.assert_array_equal(second, np.full(n, 9))
