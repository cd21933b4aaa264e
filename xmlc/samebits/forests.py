"""Pieces: forests and nearest neighbours."""

from __future__ import annotations

from xmlc.models import FastXML, LdSM, SparseWeightedNearestNeighbors
from xmlc.models.condensing import kept_instances
from xmlc.models.tail_classifiers import TailClassifiers
from xmlc.samebits.models import estimator
from xmlc.samebits.pieces import Data, Parts, Run


def tail(data: Data) -> Parts:
    """Fit tail classifiers and score and re-rank what stands in the estimates."""
    classifiers = TailClassifiers(gamma=3.0, n_jobs=1).fit(data.X, data.Y)
    return {
        "learned": classifiers.arrays(),
        "log_scores": classifiers.log_scores(data.X_test, data.P_test),
        "rerank": classifiers.rerank(data.X_test, data.P_test, 0.7),
    }


def condensed(data: Data) -> Parts:
    """Choose the instances that stand for all."""
    return {str(similarity): kept_instances(data.X, data.Y, similarity) for similarity in (0.1, 0.3, 0.6)}


# Those of swnn2018, Table 6, and others that are no whole numbers.
EXPONENTS = ((0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (2.0, 0.0), (1.0, 1.0), (2.0, 1.0), (1.7, 0.55), (3.0, 2.0))

PIECES: dict[str, Run] = {
    "FastXML": estimator(FastXML, n_trees=3, max_leaf=5),
    "FastXML, unit length": estimator(FastXML, n_trees=2, max_leaf=5, unit_norm=True, cost=3.0),
    "PfastreXML": estimator(FastXML, n_trees=2, max_leaf=5, propensity_weighted=True, alpha=0.8),
    "LdSM nag": estimator(LdSM, n_trees=2, max_nodes=40, epochs=3, learning_rate=0.1),
    "LdSM nag, 4-ary, shares of instances": estimator(
        LdSM,
        n_trees=2,
        max_nodes=40,
        epochs=3,
        learning_rate=0.1,
        arity=4,
        shares="instances",
        initial_weights="uniform",
        unit_norm=True,
    ),
    "LdSM sgd, standardised": estimator(
        LdSM, n_trees=2, max_nodes=40, epochs=3, learning_rate=0.1, optimizer="sgd", ties="first"
    ),
    "LdSM, re-ranked": estimator(LdSM, n_trees=2, max_nodes=40, epochs=3, learning_rate=0.1, beta=0.7, gamma=1.0),
    "tail classifiers": tail,
    "condensed index": condensed,
    **{
        f"SWNN alpha={alpha:g} beta={beta:g}": estimator(SparseWeightedNearestNeighbors, S=20, alpha=alpha, beta=beta)
        for alpha, beta in EXPONENTS
    },
    "SWNN, approximate": estimator(
        SparseWeightedNearestNeighbors, S=10, alpha=1.5, beta=0.7, n_tables=8, bucket_bits=6
    ),
}
