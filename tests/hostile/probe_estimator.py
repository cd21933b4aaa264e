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
    model.fit(X, Y)
    for what, wrong in broken(X):
        probe(f"predict_proba {what}", lambda wrong=wrong: model.predict_proba(wrong), XmlcError)
        probe(f"predict_top_k {what}", lambda wrong=wrong: model.predict_top_k(wrong, 3), XmlcError)
        if hasattr(model, "partial_fit"):
            probe(f"partial_fit {what}", lambda wrong=wrong: model.partial_fit(wrong, Y), XmlcError)
        if hasattr(model, "sample"):
            probe(f"sample {what}", lambda wrong=wrong: model.sample(wrong, 2), XmlcError)
        if hasattr(model, "neighbours"):
            probe(f"neighbours {what}", lambda wrong=wrong: model.neighbours(wrong), XmlcError)


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
