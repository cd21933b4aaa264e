"""Read data in plain Python. The kernels must return the same data."""

import numpy as np
from scipy import sparse


def read_rows(text, d, m):
    """Return X and Y of rows ``label,label feature:value ...`` without a header.

    Rows are parsed by `str.split` and `float`.
    """
    lines = text.split("\n")[:-1]
    X = np.zeros((len(lines), d), dtype=np.float32)
    Y = np.zeros((len(lines), m), dtype=bool)
    for i, line in enumerate(lines):
        tokens = line.split()
        if tokens and not line[0].isspace() and ":" not in tokens[0]:
            Y[i, [int(label) for label in tokens.pop(0).split(",")]] = True
        for token in tokens:
            feature, value = token.split(":")
            X[i, int(feature)] = float(value)
    return sparse.csr_array(X), sparse.csr_array(Y)
