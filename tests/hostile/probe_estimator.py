"""Give broken matrices to one estimator, in a process of its own."""

import sys

import numpy as np
from hostile_cases import broken, good_pair, probe

from xmlc.errors import XmlcError
from xmlc.models.registry import estimator_class

SMALL = {"fastxml": {"n_trees": 2}, "ldsm": {"n_trees": 2}, "parabel": {"n_trees": 1}, "plt": {"epochs": 1}}


def run(name):
    """Try fit and every way to predict."""
    X, Y = good_pair()
    model = estimator_class(name)(n_jobs=1, **SMALL.get(name, {}))
    for what, wrong in broken(X):
        probe(f"fit X {what}", lambda wrong=wrong: model.unfitted().fit(wrong, Y), XmlcError)
    for what, wrong in broken(Y):
        probe(f"fit Y {what}", lambda wrong=wrong: model.unfitted().fit(X, wrong), XmlcError)
    for what, wrong in labels_of_the_wrong_kind(Y.toarray()):
        probe(f"fit Y {what}", lambda wrong=wrong: model.unfitted().fit(X, wrong), XmlcError)
    for what, k in (("0", 0), ("negative", -1), ("1e10", 10**10), ("a float", 2.0), ("NaN", np.nan), ("a text", "3")):
        probe(f"predict_top_k k {what}", lambda k=k: model.predict_top_k(X, k), (XmlcError, ValueError))  # before fit
    model.fit(X, Y)
    for what, k in (("0", 0), ("negative", -1), ("1e10", 10**10), ("a float", 2.0), ("NaN", np.nan), ("a text", "3")):
        probe(f"predict_top_k k {what}", lambda k=k: model.predict_top_k(X, k), XmlcError)
    for what, wrong in (("NaN", np.nan), ("short", [0.5]), ("square", np.eye(6)), ("a text", "a"), ("None", None)):
        probe(f"predict thresholds {what}", lambda wrong=wrong: model.predict(X, wrong), XmlcError)
        probe(f"predict_proba threshold {what}", lambda wrong=wrong: model.predict_proba(X, wrong), XmlcError)
    for what, wrong in broken(X):
        probe(f"predict_proba {what}", lambda wrong=wrong: model.predict_proba(wrong), XmlcError)
        probe(f"predict {what}", lambda wrong=wrong: model.predict(wrong), XmlcError)
        probe(f"score X {what}", lambda wrong=wrong: model.score(wrong, Y), XmlcError)
        probe(f"predict_top_k {what}", lambda wrong=wrong: model.predict_top_k(wrong, 3), XmlcError)
        if hasattr(model, "partial_fit"):
            probe(f"partial_fit {what}", lambda wrong=wrong: model.partial_fit(wrong, Y), XmlcError)
        if hasattr(model, "sample"):
            probe(f"sample {what}", lambda wrong=wrong: model.sample(wrong, 2), XmlcError)
        if hasattr(model, "neighbours"):
            probe(f"neighbours {what}", lambda wrong=wrong: model.neighbours(wrong), XmlcError)

    for what, wrong in broken(Y):
        probe(f"score Y {what}", lambda wrong=wrong: model.score(X, wrong), XmlcError)
        if hasattr(model, "progressive_top_k"):
            probe(f"progressive_top_k Y {what}", lambda wrong=wrong: model.progressive_top_k(X, wrong), XmlcError)
            probe(f"progressive_sets Y {what}", lambda wrong=wrong: model.progressive_sets(X, wrong), XmlcError)
    for what, wrong in (("of fewer rows", Y[:-1]), ("in one dimension", Y.toarray()[0]), ("None", None)):
        probe(f"score Y {what}", lambda wrong=wrong: model.score(X, wrong), XmlcError)
        probe(f"fit Y {what}", lambda wrong=wrong: model.unfitted().fit(X, wrong), XmlcError)


def labels_of_the_wrong_kind(Y):
    """Yield what is no label set."""
    yield "of -1 and 1", np.where(Y, 1, -1)
    yield "with NaN", np.where(Y, 1.0, np.nan)
    yield "of .5", 0.5 * Y
    yield "of 2", 2 * Y.astype(int)
    yield "of texts", Y.astype(int).astype(str)
    yield "of objects", Y.astype(object)
    yield "masked", np.ma.masked_array(Y, mask=Y)


run(sys.argv[1])
