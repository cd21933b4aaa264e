"""Weights from their arrays, and links from scores to estimates."""

import numpy as np
from facts import raises_with
from plt_cases import hashed_nodes, random_nodes

from xmlc.core.errors import XmlcError
from xmlc.models.plt.weights import LOGISTIC_LINK, estimate_scores, weights_from_state


def test_arrays_of_inconsistent_weights_are_refused():
    arrays = hashed_nodes(random_nodes(9, 3, 5, 0)[0], 7)._asdict()
    del arrays["seed"]
    with raises_with(XmlcError, "bias", "children"):
        weights_from_state(arrays, {}, 10**6, 9)


def test_links_equal_their_formulas():
    scores = np.array([-30, -1, 0, 0.5, 1, 2, 30], dtype=np.float32)
    expected = {LOGISTIC_LINK: 1 / (1 + np.exp(-scores.astype(float)))}
    for power in (1, 2, 3, 4):
        expected[power] = np.exp(-(np.maximum(1 - scores.astype(float), 0) ** power))
    for link, values in expected.items():
        estimates = scores.copy()
        estimate_scores(estimates, link)
        np.testing.assert_allclose(estimates, values, rtol=1e-5, atol=1e-37)
