"""Find nearest neighbours in plain Python: compute all similarities one by one and sort them."""

import numpy as np


def similarity(row, query, beta, rank):
    """Return the float32 similarity of two dense float32 unit vectors.

    ``rank`` orders the features of the row.
    """
    shared = np.count_nonzero((row != 0) & (query != 0))
    union = np.count_nonzero((row != 0) | (query != 0))
    parts = [0.0, 0.0, 0.0, 0.0]
    for p, feature in enumerate(sorted(np.flatnonzero(row), key=lambda j: rank[j])):
        parts[p % 4] += float(row[feature]) * float(query[feature])
    product = (parts[0] + parts[1]) + (parts[2] + parts[3])
    jaccard = shared / union if union else 0.0
    return np.float32((1.0 if beta == 0 else jaccard if beta == 1 else jaccard**beta) * product)


def ranks(X):
    """Return the place of each feature by descending document frequency.

    In ties, the smaller feature is first.
    """
    frequencies = np.count_nonzero(X, axis=0)
    order = sorted(range(X.shape[1]), key=lambda j: (-frequencies[j], j))
    return {feature: place for place, feature in enumerate(order)}


def neighbours(X, Q, S, beta):
    """For each row of dense ``Q``, return the row numbers and similarities of the S nearest rows of
    dense ``X``.
    """
    numbers = np.full((len(Q), S), -1, dtype=np.int32)
    similarities = np.zeros((len(Q), S), dtype=np.float32)
    rank = ranks(X)
    for q, query in enumerate(Q):
        found = [(-similarity(row, query, beta, rank), i) for i, row in enumerate(X)]
        for r, (negative, i) in enumerate(sorted(pair for pair in found if pair[0] < 0)[:S]):
            numbers[q, r] = i
            similarities[q, r] = -negative
    return numbers, similarities


def estimates(numbers, similarities, Y, alpha, row_weights=None):
    """Return each label's share of the votes (Section 3.5), dense float32.

    The row weights of the votes are cut so that they sum to at most S.
    """
    shares = np.zeros((len(numbers), Y.shape[1]), dtype=np.float32)
    for q, (these, weights) in enumerate(zip(numbers, similarities, strict=True)):
        votes = np.zeros(Y.shape[1])
        total = 0.0
        left = len(these)
        for i, weight in zip(these, weights, strict=True):
            if i >= 0:
                vote = (float(weight) / float(weights[0])) ** alpha
                if row_weights is not None:
                    own = min(float(row_weights[i]), left)
                    vote = vote * own
                    left = left - own
                votes[Y[i]] += vote
                total += vote
        if total:
            shares[q] = (votes / total).astype(np.float32)
    return shares
