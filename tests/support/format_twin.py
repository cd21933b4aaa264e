"""Read data in plain Python. The kernels must return the same data."""

import numpy as np
from scipy import sparse


def read_rows(text, base=0, shape=None):
    """Return X and Y of rows ``label,label feature:value ...`` without a header.

    Rows are parsed by `str.split` and `float`.
    """
    rows = []
    label_sets = []
    for line in text.split("\n")[:-1]:
        line = line.rstrip("\r")
        tokens = line.split()
        labels = []
        if tokens and not line[0].isspace() and ":" not in tokens[0]:
            labels = [int(label) - base for label in tokens.pop(0).split(",")]
        pairs = {}
        for token in tokens:
            if token.startswith("#"):
                break
            feature, value = token.split(":")
            pairs[int(feature) - base] = np.float32(float(value))
        rows.append(pairs)
        label_sets.append(set(labels))
    d, m = shape or (
        max((max(row, default=-1) for row in rows), default=-1) + 1,
        max((max(labels, default=-1) for labels in label_sets), default=-1) + 1,
    )
    X = np.zeros((len(rows), d), dtype=np.float32)
    Y = np.zeros((len(rows), m), dtype=bool)
    for i, (row, labels) in enumerate(zip(rows, label_sets)):
        for feature, value in row.items():
            X[i, feature] = value
        Y[i, list(labels)] = True
    return sparse.csr_array(X), sparse.csr_array(Y)
