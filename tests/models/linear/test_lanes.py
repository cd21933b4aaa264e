"""Products and sums of rows with vectors of many lanes, against one lane at a time."""

import itertools

import numpy as np
from logistic_twin import row_product
from numba import njit
from scipy import sparse

from xmlc.models.linear._lanes import LANES, add_row, multiply_row


@njit
def multiply_and_add(indptr, indices, data, vectors, products, multiples, sums):
    for i in range(indptr.size - 1):
        multiply_row(indices, data, indptr[i], indptr[i + 1], vectors, i, products)
        add_row(indices, data, indptr[i], indptr[i + 1], multiples, i, sums)


def test_lanes_are_products_and_sums_of_rows():
    rng = np.random.default_rng(0)
    X = sparse.random_array((30, 20), density=0.4, rng=rng, format="csr")
    vectors, multiples = rng.normal(size=(20, LANES)), rng.normal(size=(30, LANES))
    products, sums = rng.normal(size=(30, LANES)), rng.normal(size=(20, LANES))
    expected = sums.copy()
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.uint32)
    multiply_and_add(indptr, indices, X.data, vectors, products, multiples, sums)
    for i, lane in itertools.product(range(30), range(LANES)):
        columns = X.indices[X.indptr[i] : X.indptr[i + 1]]
        row = X.data[X.indptr[i] : X.indptr[i + 1]]
        assert products[i, lane] == row_product(X[[i]].toarray()[0], vectors[:, lane])
        for k, x in zip(columns, row, strict=True):
            expected[k, lane] += x * multiples[i, lane]
    assert (sums == expected).all()
