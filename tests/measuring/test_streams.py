"""Progressive validation of models that predict sets too, or do not."""

import numpy as np
import pytest
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.measuring.streams import run_stream


class Ranks:
    """Says label 0 before each instance."""

    def unfitted(self):
        return Ranks()

    def progressive_top_k(self, X, Y, k=1):
        return np.zeros((X.shape[0], 1), dtype=np.int32), np.ones((X.shape[0], 1), dtype=np.float32)


class Predicts(Ranks):
    """Predicts what is true."""

    def unfitted(self):
        return Predicts()

    def progressive_sets(self, X, Y, a, b):
        return Y


X = sparse.csr_array((4, 2), dtype=np.float32)
SEVERAL = sparse.csr_array(np.array([[1, 1], [1, 0], [0, 1], [1, 0]], dtype=bool))
SINGLE = sparse.csr_array(np.array([[1, 0], [1, 0], [0, 1], [1, 0]], dtype=bool))


def test_sets_are_predicted_where_a_model_can_and_instances_have_several_labels():
    for model, Y, has_sets in ((Predicts(), SEVERAL, True), (Ranks(), SEVERAL, False), (Predicts(), SINGLE, False)):
        found = run_stream(model, X, Y)
        assert (found.sets_cpu_seconds is not None) == has_sets
        assert [row.macro_f for row in found.rows] == [1.0 if has_sets else None] * len(found.rows)
        assert [row.macro_f_present for row in found.rows] == [1.0 if has_sets else None] * len(found.rows)


def test_rows_are_what_was_right_so_far():
    found = run_stream(Ranks(), X, SINGLE)
    assert [(row.instances, row.accuracy) for row in found.rows] == [(1, 1.0), (2, 1.0), (3, 2 / 3), (4, 0.75)]
    assert found.constant_accuracy == 0.75
    assert found.rows[0].entropy_reduction == pytest.approx(np.log2(4 / 3))


def test_what_learns_no_stream_is_refused():
    with pytest.raises(XmlcError, match="object learns no stream"):
        run_stream(object(), X, SINGLE)
