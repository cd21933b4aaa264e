"""Single rows are checked and ranked as rows of matrices are."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.kernels.csr import NO_WEIGHTS, top_k_of
from xmlc.kernels.rows import is_canonical, top_k_of_row


@pytest.mark.parametrize(
    ("indices", "values", "expected"),
    [
        ([], [], True),
        ([0, 3, 9], [1.0, -2.0, 1e-45], True),
        ([0, 10], [1.0, 1.0], False),
        ([-1, 3], [1.0, 1.0], False),
        ([3, 3], [1.0, 1.0], False),
        ([3, 2], [1.0, 1.0], False),
        ([3], [0.0], False),
        ([3], [-0.0], False),
        ([3], [np.nan], False),
        ([3], [-np.inf], False),
    ],
)
def test_canonical_rows_ascend_and_have_finite_values(indices, values, expected):
    found = is_canonical(np.array(indices, dtype=np.int64), np.array(values, dtype=np.float32), 10)
    assert found == expected


@pytest.mark.parametrize("weighted", [False, True])
def test_ranking_of_a_row_equals_ranking_of_a_matrix(weighted):
    rng = np.random.default_rng(5)
    labels = np.sort(rng.permutation(40)[:30]).astype(np.int32)
    scores = rng.choice(np.float32([0.25, 0.5, 0.75, 1e-44]), 30)
    weights = rng.choice([0.0, 0.5, 1.0], 40) if weighted else NO_WEIGHTS
    for size in (0, 7, 30):
        row = (labels[:size], scores[:size])
        matrix = sparse.csr_array((row[1], row[0], [0, size]), shape=(1, 40))
        for k in (1, 5, 50):
            expected = top_k_of(matrix, k, weights)
            for found, (part,) in zip(top_k_of_row(*row, k, weights), expected, strict=True):
                assert found.dtype == part.dtype
                np.testing.assert_array_equal(found.ravel(), part)
