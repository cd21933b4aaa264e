"""Where instances go at a node of LdSM."""

from __future__ import annotations

import ldsm_twin as twin
import numpy as np

from xmlc.csr import kernel_csr
from xmlc.models.ldsm._route import divides, route, sent_to


def test_instances_go_in_all_directions_that_reach_a_half(multilabel):
    X, _ = multilabel(60, 8, 3, seed=4)
    rng = np.random.default_rng(4)
    features = np.array([6, 1, 3, 0], dtype=np.uint32)
    weights, biases = rng.normal(size=(4, 3)).astype(np.float32), np.array([0.3, 0.3, 0.2], np.float32)
    node, dense = np.arange(60, dtype=np.uint32), np.zeros(24, np.float32)
    chosen, sizes = np.empty(60, np.uint8), np.empty(3, np.int64)
    route(kernel_csr(X), node, features, weights, biases, dense, chosen)
    expected = [twin.directions(biases + x[features] @ weights) for x in X.toarray()]
    assert [[j for j in range(3) if bits >> j & 1] for bits in chosen.tolist()] == expected
    assert {len(own) for own in expected} == {1, 2, 3}
    assert not dense.any()
    assert divides(chosen, sizes)
    for j in range(3):
        sent = np.empty(sizes[j], np.uint32)
        sent_to(node, chosen, j, sent)
        assert sent.tolist() == [i for i, own in enumerate(expected) if j in own]
    assert not divides(np.full(9, 3, np.uint8), sizes)  # all go both ways, none the third
