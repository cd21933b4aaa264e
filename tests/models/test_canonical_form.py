"""A model depends on the values of a matrix, not on the form in which they are stored."""

import numpy as np
import pytest
from scipy import sparse
from small_data import equal_bits, random_multilabel
from small_models import OURS, small

from xmlc.kernels.csr import as_features
from xmlc.models import OPLT

X, Y = random_multilabel(50, 12, 5, seed=4)
DENSE = X.toarray()


def in_another_form(matrix):
    """Return an equal CSR matrix with unsorted indices, stored zeros and duplicates that cancel."""
    dense = matrix.toarray()
    is_zero = dense == 0
    values = np.stack([np.where(is_zero, -0.0, dense), 1.5 * is_zero, -1.5 * is_zero])
    rows, columns = np.indices(values.shape)[1:].reshape(2, -1)
    order = np.lexsort((np.random.default_rng(0).random(rows.size), rows))
    starts = np.arange(len(dense) + 1) * 3 * dense.shape[1]
    values = values.ravel()[order].astype(matrix.dtype)
    return sparse.csr_array((values, columns[order], starts), shape=matrix.shape)


def with_stored_zeros(Y):
    """Return equal label sets in which each missing label is a stored zero."""
    rows, columns = np.indices(Y.shape).reshape(2, -1)
    return sparse.coo_array((Y.toarray().ravel().astype(np.int8), (rows, columns)), shape=Y.shape)


FORMS = {
    "stored zeros, unsorted": in_another_form(X),
    "columns": sparse.csc_array(in_another_form(X)),
    "coordinates": in_another_form(X).tocoo(),
    "sparse": X,
    "float64": X.astype(np.float64),
    "column-major": np.asfortranarray(DENSE),
}


@pytest.mark.parametrize("name", OURS)
def test_model_and_predictions_are_bit_identical_for_each_form(name):
    expected = small(name).fit(DENSE, Y.toarray())
    estimates = expected.predict_proba(DENSE)
    ranking = expected.predict_top_k(DENSE, 3)
    for form, given in FORMS.items():
        model = small(name).fit(given, with_stored_zeros(Y))
        assert equal_bits(model.predict_proba(given), estimates), form
        np.testing.assert_array_equal(model.predict_top_k(given, 3), ranking, err_msg=form)
        assert equal_bits(model.predict(given), expected.predict(DENSE)), form


@pytest.mark.parametrize("name", OURS)
def test_single_instance_may_contain_zeros(name):
    model = small(name).fit(X, Y)
    for row in range(5):
        one = X[[row]]
        found = model.rank_one(np.arange(12)[::-1], DENSE[row][::-1], 3)
        np.testing.assert_array_equal(found, model.rank_one(one.indices, one.data, 3))


def test_stream_does_not_depend_on_the_form():
    one = OPLT(n_jobs=1).partial_fit(DENSE, Y)
    other = OPLT(n_jobs=1).partial_fit(in_another_form(X), Y)
    assert equal_bits(one.predict_proba(X), other.predict_proba(X))


def test_given_matrices_are_not_changed():
    given = in_another_form(X)
    labels = sparse.csr_array(with_stored_zeros(Y))
    arrays = [given.data, given.indices, given.indptr, labels.data, labels.indices]
    before = [array.tobytes() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    small("ldsm").fit(given, labels).predict(given)
    after = [given.data, given.indices, given.indptr, labels.data, labels.indices]
    assert [array.tobytes() for array in after] == before


def test_duplicates_are_summed_before_rounding():
    rng = np.random.default_rng(5)
    values = rng.random(400)
    rows, columns = rng.integers(0, 20, (2, 400))
    rows.sort()
    starts = np.searchsorted(rows, np.arange(21))
    by_row = sparse.csr_array((values, columns, starts), shape=(20, 20))
    by_place = sparse.coo_array((values, (rows, columns)), shape=(20, 20))
    for given in (by_row, by_row.T, by_place):
        expected = given.toarray().astype(np.float32)
        np.testing.assert_array_equal(as_features(given).toarray(), expected, err_msg=given.format)
