"""GFM's bare accesses: the same ones and the same columns of F as GFM's own."""

import numpy as np
import pytest
from scipy import sparse
from small_data import prepare_tiny

from xmlc.bench.harness import Data
from xmlc.bench.limits import gfm
from xmlc.bench.limits._gfm import count_and_multiply, places_of
from xmlc.inference import labels_by_size


def test_the_ones_are_counted_and_multiplied_as_in_p():
    """A product of column k has the weight 1 / (n_samples k), whatever its size."""
    marginals = sparse.random_array((3, 30), density=0.5, rng=np.random.default_rng(0), format="csr")
    samples = gfm.independent_samples(marginals, 20)
    np.testing.assert_allclose(samples.Y.toarray().reshape(3, 20, 30).mean(axis=1), marginals.toarray(), atol=0.4)
    indptr, labels = samples.Y.indptr.astype(np.int64), samples.Y.indices.astype(np.int32).view(np.uint32)
    place = np.full(30, -1, dtype=np.int32)
    places, rows, shapes = places_of(indptr, labels, 20, place)
    assert (place == -1).all()
    P = labels_by_size(samples).P
    assert shapes[:, 0].tolist() == P.any(axis=1).sum(axis=1).tolist()
    assert shapes[:, 1].tolist() == P.any(axis=2).sum(axis=1).tolist()
    expected = sum(P[i].sum() * sum(1 / (20 * k) for k in range(1, shapes[i, 2] + 1)) for i in range(3))
    assert count_and_multiply(indptr, places, rows, shapes, 20, 0, 3) == pytest.approx(expected)


def test_the_task_is_inference_and_its_units_are_labels_times_sizes(tmp_path):
    data = Data.read(prepare_tiny(tmp_path))
    (work,) = gfm.works(data)
    found = work.call(1)
    assert found["expected F"].shape == (data.X_test.shape[0],)
    assert work.units == work.bare_units > 0
    assert len(work.bare(1)) == len(work.bare(2))
