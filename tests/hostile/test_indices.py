"""Test that matrices with indices out of range are refused before compiled code reads them."""

import numpy as np
import pytest
from hostile_cases import broken, good_pair
from small_models import OURS, small

from xmlc import inference, metrics, thresholds
from xmlc.core.errors import XmlcError
from xmlc.inference.samples import Samples
from xmlc.models.trees.kmeans import kmeans_tree
from xmlc.models.trees.representations import label_representations

# tests/kernels/test_csr.py tries all kinds of errors on the function that finds them.
KINDS = {"index 2e9 at 0", "index width at 0", "indptr ends far out", "indices short", "CSC index"}


def check_refused(call, matrix):
    for kind, wrong in broken(matrix):
        if kind not in KINDS:
            continue
        try:
            call(wrong)
        except XmlcError:
            continue
        pytest.fail(f"accepted: {kind}")


@pytest.mark.parametrize("name", OURS)
def test_estimator_refuses_invalid_indices(name):
    X, Y = good_pair()
    model = small(name)
    check_refused(lambda wrong: model.unfitted().fit(wrong, Y), X)
    check_refused(lambda wrong: model.unfitted().fit(X, wrong), Y)
    model.fit(X, Y)
    calls = {
        "predict_proba": model.predict_proba,
        "predict": model.predict,
        "predict_top_k": lambda wrong: model.predict_top_k(wrong, 3),
        "partial_fit": lambda wrong: model.partial_fit(wrong, Y),
        "sample": lambda wrong: model.sample(wrong, 2),
        "neighbours": lambda wrong: model.neighbours(wrong),
    }
    for method, call in calls.items():
        if hasattr(model, method):
            check_refused(call, X)
    check_refused(lambda wrong: model.score(X, wrong), Y)
    if hasattr(model, "progressive_top_k"):
        check_refused(lambda wrong: model.progressive_top_k(X, wrong), Y)


METHODS = [
    getattr(thresholds, name) for name in thresholds.__all__ if name not in ("OutOfFold", "tune")
]
METHODS = [method for method in METHODS if isinstance(method, type)]


@pytest.mark.parametrize("method", METHODS)
def test_thresholds_refuse_invalid_indices(method):
    _, Y = good_pair()
    spe = Y.astype(np.float32) * np.float32(0.5)
    check_refused(lambda wrong: method().fit(wrong, Y), spe)
    if method is not thresholds.ExpectedF:
        check_refused(lambda wrong: method().fit(spe, wrong), Y)


def test_functions_refuse_invalid_indices():
    X, Y = good_pair()
    spe = Y.astype(np.float32) * np.float32(0.5)
    ranking = np.zeros((Y.shape[0], 5), dtype=np.int32)
    for call in (
        lambda wrong: thresholds.apply_thresholds(wrong, 0.1),
        thresholds.STO().fit(spe, Y).predict,
        inference.gfm,
        inference.meuf,
        inference.lewis,
    ):
        check_refused(call, spe)
    for call in (
        lambda wrong: inference.gfm(Samples(wrong, 2)),
        lambda wrong: metrics.macro_f(wrong, Y),
        lambda wrong: metrics.macro_f(Y, wrong),
        lambda wrong: metrics.classification_metrics(wrong, Y),
        lambda wrong: metrics.precision_at_k(wrong, ranking, 3),
        metrics.propensities,
        lambda wrong: label_representations(X, wrong),
    ):
        check_refused(call, Y)
    check_refused(lambda wrong: kmeans_tree(wrong, 2, 2, 0), X)
