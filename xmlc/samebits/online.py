"""Pieces: trees that grow with the stream."""

from __future__ import annotations

from xmlc.metrics import macro_f
from xmlc.metrics.progressive import checkpoints, entropy_reduction, progressive_accuracy, progressive_macro_f
from xmlc.models import OPLT
from xmlc.samebits.models import estimator, learned, predictions
from xmlc.samebits.pieces import Data, Parts, Run


def stream(data: Data) -> Parts:
    """Learn in two parts and validate progressively."""
    half = data.X.shape[0] // 2
    model = OPLT(n_jobs=1).partial_fit(data.X[:half], data.Y[:half])
    ranked = model.progressive_top_k(data.X[half:], data.Y[half:], 3)
    truth = data.Y[half:]
    at = checkpoints(truth.shape[0])
    accuracy = progressive_accuracy(truth, ranked[0], at)
    predicted = model.predict_proba(data.X[half:], 0.2).astype(bool)
    return {
        "learned": learned(model),
        "progressive_top_k": ranked,
        **predictions(model, data),
        "curves": [at, accuracy, entropy_reduction(accuracy, 0.05), progressive_macro_f(truth, predicted, at[-5:])],
        "macro_f": macro_f(truth, predicted),
    }


PIECES: dict[str, Run] = {
    "OPLT best-greedy": estimator(OPLT, policy="best_greedy", max_leaf=6, epochs=2),
    "OPLT best-greedy, as printed": estimator(OPLT, policy="best_greedy", balance="printed", alpha=0.6, arity=3),
    "OPLT random": estimator(OPLT, policy="random", arity=4, unit_norm=False),
    "OPLT complete": estimator(OPLT, policy="complete", arity=3),
    "OPLT CPET": estimator(OPLT, policy="cpet", alpha=0.6),
    "OPLT one-versus-rest": estimator(OPLT, policy="one_vs_rest"),
    "OPLT warm start": estimator(OPLT, policy="best_greedy", max_leaf=6, warm_start=0.3),
    "OPLT stream": stream,
}
