"""Pieces: one classifier for each label, with and without the labels before it."""

from __future__ import annotations

from xmlc.models import BinaryRelevance, ProbabilisticClassifierChain
from xmlc.samebits.models import estimator, learned, predictions
from xmlc.samebits.pieces import Data, Parts, Run


def chain(data: Data) -> Parts:
    """Train a chain and sample from it."""
    model = ProbabilisticClassifierChain(n_samples=50, C=1.0, n_jobs=1).fit(data.X, data.Y)
    samples = model.sample(data.X_test[:30])
    return {"learned": learned(model), "samples": samples, **predictions(model, data)}


PIECES: dict[str, Run] = {
    "BR": estimator(BinaryRelevance, C=1.0),
    "BR, C chosen": estimator(BinaryRelevance, C_grid=(0.1, 1.0), folds=2),
    "PCC": chain,
}
