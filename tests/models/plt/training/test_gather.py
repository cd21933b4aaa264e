"""What instances that reach a block have, against numpy."""

import numpy as np
import pytest

from xmlc.csr import kernel_csr
from xmlc.models.plt.training._gather import count_nonzeros, list_features


@pytest.mark.parametrize("n_features", [1, 63, 64, 65, 300])
def test_features_and_nonzeros_of_blocks(multilabel, n_features):
    X, _ = multilabel(40, n_features, 3, seed=n_features)
    x, random = kernel_csr(X), np.random.default_rng(1)
    order = random.permutation(40)
    reaching = [np.sort(random.choice(40, size, replace=False)) for size in (0, 1, 7, 40)]
    starts = np.concatenate(([0], np.cumsum([own.size for own in reaching])))
    positions = np.concatenate(reaching).astype(np.uint32)
    blocks = np.array([3, 0, 1, 2])
    rows = [[x.indices[x.indptr[row] : x.indptr[row + 1]] for row in order[reaching[block]]] for block in blocks]
    expected = [np.unique(np.concatenate([*own, np.empty(0, np.uint32)])) for own in rows]
    distinct, nonzeros, features = list_features(x.indptr, x.indices, order, starts, positions, blocks, n_features)
    assert distinct.tolist() == [own.size for own in expected]
    assert nonzeros.tolist() == [sum(row.size for row in own) for own in rows]
    np.testing.assert_array_equal(features, np.concatenate(expected))
    np.testing.assert_array_equal(count_nonzeros(x.indptr, order, starts, positions, blocks), nonzeros)
