"""What is compared of an estimator: what it learned, its estimates, its ranking."""

from __future__ import annotations

import tempfile
from pathlib import Path

from xmlc.models.base import SparseProbabilityEstimator
from xmlc.samebits.pieces import Data, Parts, Run
from xmlc.tables.fingerprint import Fingerprint, fingerprint

K = 5


def estimator(kind: type[SparseProbabilityEstimator], **hyperparameters: object) -> Run:
    """Make a piece of an estimator's training and predictions."""

    def run(data: Data) -> Parts:
        model = kind().set_params(**hyperparameters, n_jobs=1).fit(data.X, data.Y)
        return {"learned": learned(model), **predictions(model, data)}

    return run


def learned(model: SparseProbabilityEstimator) -> Fingerprint:
    """Return the fingerprint of all arrays that an estimator is saved with."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        return fingerprint(Path(folder) / "model")


def predictions(model: SparseProbabilityEstimator, data: Data) -> Parts:
    """Return estimates and rankings of the test instances."""
    return {
        "predict_proba": model.predict_proba(data.X_test, 0.001),
        "predict_top_k": model.predict_top_k(data.X_test, K),
    }
