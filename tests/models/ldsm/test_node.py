"""The data of a node of LdSM: features and labels numbered anew."""

from __future__ import annotations

import numpy as np
from ldsm_cases import node_of
from scipy import sparse

from xmlc.csr import kernel_csr
from xmlc.models.ldsm._grow import priority_of
from xmlc.models.ldsm._node import gather_labels, gather_scaled, new_node_data


def test_a_node_is_numbered_anew(multilabel):
    X, Y, node = node_of(multilabel)
    x, y, d, m = kernel_csr(X), kernel_csr(Y), X.shape[1], Y.shape[1]
    data = new_node_data(X.shape[0], d, m, X.nnz + X.shape[0], Y.nnz)
    for own in (node, node[:4]):  # the second finds the room as the first left it
        n_labels, p = gather_labels(y, own, data), gather_scaled(x, own, data)
        local = sparse.csr_array((data.values, data.ids, data.starts[: own.size + 1]), shape=(own.size, p)).toarray()
        assert data.features[p - 1] == d
        assert (local[:, p - 1] == 1).all()
        assert abs(local).max() == 1
        expected = X.toarray()[own][:, data.features[: p - 1]]
        assert np.allclose(local[:, :-1] * data.scales[: p - 1], expected, rtol=1e-6)
        for i, instance in enumerate(own):
            labels = data.labels[data.label_ids[data.label_starts[i] : data.label_starts[i + 1]]]
            assert np.array_equal(labels, Y[[int(instance)]].indices)
        assert n_labels == np.count_nonzero(Y[own].sum(axis=0))
        assert priority_of(y, own, np.zeros(m, np.uint32)) == Y[own].sum() - Y[own].sum(axis=0).max()
