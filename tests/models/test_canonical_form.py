"""A model depends on the values of a matrix, not on the form in which they are stored."""

from itertools import chain, product

import numpy as np
import pytest
from scipy import sparse
from small_data import equal_bits, random_multilabel
from small_models import OURS, small

from xmlc.kernels.csr import as_features
from xmlc.models import OPLT

X, Y = random_multilabel(50, 12, 5, seed=4)
DENSE = X.toarray()


def in_another_form(matrix, seed=0):
    """Return an equal matrix with unsorted indices, stored zeros of both signs and duplicates that
    cancel.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for row in matrix.toarray():
        entries = [(column, value) for column, value in enumerate(row) if value]
        zeros = np.flatnonzero(row == 0)[:4]
        entries += [(column, -0.0 if column % 2 else 0.0) for column in zeros]
        entries += [(column, value) for column, value in product(zeros[:1], (1.5, -1.5))]
        rows.append([entries[place] for place in rng.permutation(len(entries))])
    entries = [*chain.from_iterable(rows)]
    columns = np.array([column for column, _ in entries])
    values = np.array([value for _, value in entries], dtype=matrix.dtype)
    ends = np.cumsum([0, *map(len, rows)])
    return sparse.csr_array((values, columns, ends), shape=matrix.shape)


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
        for found, wanted in zip(model.predict_top_k(given, 3), ranking, strict=True):
            np.testing.assert_array_equal(found, wanted, err_msg=form)
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


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_duplicates_are_summed_before_rounding(kind):
    rng = np.random.default_rng(5)
    values = rng.random(400)
    places = rng.integers(0, 20, (2, 400))
    given = sparse.coo_array((values, tuple(places)), shape=(20, 20))
    dense = given.toarray().astype(np.float32)
    if kind != "coo":
        make = sparse.csr_array if kind == "csr" else sparse.csc_array
        major, minor = places if kind == "csr" else places[::-1]
        order = np.argsort(major, kind="stable")
        starts = np.searchsorted(major[order], np.arange(21))
        given = make((values[order], minor[order], starts), shape=(20, 20))
    np.testing.assert_allclose(as_features(given).toarray(), dense, rtol=1e-7)
    exact = sparse.csr_array(given).toarray().astype(np.float32)
    np.testing.assert_array_equal(as_features(given).toarray(), exact)
