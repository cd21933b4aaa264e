"""Pieces: probabilistic label trees in all their forms, and ensembles of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from xmlc.models import PLT, Parabel
from xmlc.samebits.models import estimator, learned, predictions
from xmlc.samebits.pieces import Data, Parts, Run

TREE: Mapping[str, object] = {"arity": 4, "max_leaf": 6, "epochs": 2, "lam": 1e-6, "C": 1.0}


def _tree(**hyperparameters: object) -> PLT:
    return PLT(n_jobs=1).set_params(**TREE, **hyperparameters)


def one_by_one(data: Data) -> Parts:
    """Rank single instances, as in online serving."""
    X = data.X_test[:40]
    rows = [
        (X.indices[X.indptr[i] : X.indptr[i + 1]], X.data[X.indptr[i] : X.indptr[i + 1]]) for i in range(X.shape[0])
    ]
    model = _tree(tree="random").fit(data.X, data.Y)
    by_beam = _tree(tree="random", search="beam", beam=3).fit(data.X, data.Y)
    small = model.drop_weights(0.02)
    models = {"exact": model, "beam": by_beam, "small": small}
    return {name: [model.rank_one(*row, 5) for row in rows] for name, model in models.items()}


def without_small_weights(data: Data) -> Parts:
    """Drop small weights of a tree that is trained."""
    model = _tree(tree="random").fit(data.X, data.Y).drop_weights(0.02)
    return {"learned": learned(model), **predictions(model, data)}


def above_thresholds(data: Data) -> Parts:
    """Find what exceeds thresholds of labels of their own."""
    model = _tree(tree="huffman").fit(data.X, data.Y)
    return {"predict_proba": model.predict_proba(data.X_test, np.linspace(0.02, 0.4, data.Y.shape[1]))}


PIECES: dict[str, Run] = {
    "PLT sgd, k-means tree": estimator(PLT, **TREE, solver="sgd", tree="kmeans"),
    "PLT sgd, beam": estimator(PLT, **TREE, solver="sgd", tree="random", search="beam", beam=3),
    "PLT sgd, hashed weights": estimator(PLT, **TREE, solver="sgd", tree="random", hash_bits=14),
    "PLT sgd, not unit length": estimator(PLT, **TREE, solver="sgd", tree="random", unit_norm=False),
    "PLT adagrad, Huffman tree": estimator(PLT, **TREE, solver="adagrad", tree="huffman"),
    "IPLT (PLT adagrad, k-means tree)": estimator(PLT, solver="adagrad", tree="kmeans", arity=2, max_leaf=6, epochs=1),
    "PLT batch, logistic loss": estimator(PLT, **TREE, solver="batch", loss="logistic", tree="random"),
    "PLT batch, squared hinge loss": estimator(
        PLT,
        **TREE,
        solver="batch",
        loss="squared_hinge",
        hinge_power=3,
        tree="kmeans",
        weight_cut=0.05,
        search="beam",
        beam=5,
    ),
    "PLT without small weights": without_small_weights,
    "PLT, thresholds by label": above_thresholds,
    "PLT, one instance at a time": one_by_one,
    "Parabel": estimator(Parabel, n_trees=2, max_leaf=6, epochs=3, beam=4),
    "Parabel, logistic loss": estimator(Parabel, n_trees=2, arity=4, max_leaf=6, epochs=3, loss="logistic"),
}
