"""Give broken matrices to every function that takes label sets or estimates, in a process of its own."""

import numpy as np
from hostile_cases import broken, good_pair, probe

from xmlc import inference, metrics, thresholds
from xmlc.errors import XmlcError
from xmlc.estimates import Samples
from xmlc.models.condensing import kept_instances
from xmlc.models.tail_classifiers import TailClassifiers
from xmlc.trees.kmeans import kmeans_tree, label_representations


def run():
    """Try thresholds, inference, metrics, trees and tail classifiers."""
    X, Y = good_pair()
    spe = Y.astype(np.float32) * np.float32(0.5)
    ranking = np.zeros((Y.shape[0], 5), dtype=np.int32)
    fitted = thresholds.STO().fit(spe, Y)
    tail = TailClassifiers().fit(X, Y)
    methods = [getattr(thresholds, name) for name in thresholds.PUBLIC]
    methods = [method for method in methods if isinstance(method, type)]
    of_estimates = {
        "apply": lambda wrong: thresholds.apply_thresholds(wrong, 0.1),
        "predict": fitted.predict,
        "gfm": inference.gfm,
        "meuf": inference.meuf,
        "lewis": inference.lewis,
        "tail": lambda wrong: tail.log_scores(X, wrong),
        "rerank": lambda wrong: tail.rerank(X, wrong, 0.5),
        **{method.__name__: lambda wrong, method=method: method().fit(wrong, Y) for method in methods},
    }
    of_labels = {
        "samples": lambda wrong: inference.gfm(Samples(wrong, 2)),
        "macro_f truth": lambda wrong: metrics.macro_f(wrong, Y),
        "macro_f prediction": lambda wrong: metrics.macro_f(Y, wrong),
        "classification": lambda wrong: metrics.classification_metrics(wrong, Y),
        "precision": lambda wrong: metrics.precision_at_k(wrong, ranking, 3),
        "propensities": metrics.propensities,
        "representations": lambda wrong: label_representations(X, wrong),
        "condensing": lambda wrong: kept_instances(X, wrong, 0.9),
        **{f"{method.__name__} truth": lambda wrong, method=method: method().fit(spe, wrong) for method in methods},
    }
    for matrix, calls in (
        (spe, of_estimates),
        (Y, of_labels),
        (X, {"kmeans": lambda wrong: kmeans_tree(wrong, 2, 2, 0)}),
    ):
        for what, wrong in broken(matrix):
            for name, call in calls.items():
                probe(f"{name} {what}", lambda call=call, wrong=wrong: call(wrong), XmlcError)
    for what, value in (("NaN", np.nan), ("inf", np.inf)):
        wrong = spe.copy()
        wrong.data[3] = value
        for name in of_estimates.keys() - {"tail"}:  # which takes places, no values
            call = of_estimates[name]
            probe(f"{name} of {what}", lambda call=call, wrong=wrong: call(wrong), XmlcError)
    for what, limits in (
        ("NaN", np.nan),
        ("a text", "a"),
        ("short", np.ones(2)),
        ("None", None),
        ("square", np.eye(6)),
    ):
        probe(f"apply {what}", lambda limits=limits: thresholds.apply_thresholds(spe, limits), XmlcError)
    for clip in (np.nan, "a", -1, 2, True):
        probe(f"clip {clip}", lambda clip=clip: thresholds.STO(clip=clip).fit(spe, Y), XmlcError)
    for measure in (metrics.precision_at_k, metrics.ndcg_at_k):
        for what, wrong in wrong_rankings(ranking, Y.shape[1]):
            probe(f"{measure.__name__} {what}", lambda m=measure, wrong=wrong: m(Y, wrong, 3), XmlcError)
        for k in (0, -1, 6, 10**10, 2.5, "a", None, np.nan):
            probe(f"{measure.__name__} k={k}", lambda m=measure, k=k: m(Y, ranking, k), XmlcError)
    for k in (0, -1, 2.5, "a", None, np.nan):
        probe(f"maximum k={k}", lambda k=k: metrics.maximum_precision_at_k(Y, k), XmlcError)


def wrong_rankings(ranking, n_labels):
    """Yield what ranks no labels."""
    for label in (n_labels, -2, 2_000_000_000, -(2**31)):
        yield f"label {label}", np.full_like(ranking, label)
    yield "label of 64 bits", np.full(ranking.shape, 2**32)
    yield "of floats", ranking.astype(float)
    yield "of NaN", np.full(ranking.shape, np.nan)
    yield "in one dimension", ranking[0]
    yield "of fewer instances", ranking[:-1]
    yield "of texts", ranking.astype(str)


run()
