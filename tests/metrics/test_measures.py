"""The list of measures, and its use in records and tables."""

import numpy as np

from xmlc.metrics import classification_metrics, propensities
from xmlc.metrics.classification import agreement, scores_by_frequency
from xmlc.metrics.measures import BY_NAME, MAXIMA, RANKING_METRICS, SET_METRICS
from xmlc.metrics.ranking import calibration_scores, ranking_metrics


def test_a_record_has_every_measure_once():
    rng = np.random.default_rng(1)
    Y = rng.random((6, 8)) < 0.4
    labels = np.argsort(rng.random((6, 8)))[:, :5].astype(np.int32)
    predicted = rng.random((6, 8)) < 0.4
    found = [
        *ranking_metrics(Y, labels, propensities(Y)),
        *calibration_scores(Y, labels, np.ones((6, 5))),
    ]
    groups = np.array([0, 1, 1, 2, 3, 4, 5, 1])
    Y[0] = True
    found += [
        *classification_metrics(Y, predicted),
        *scores_by_frequency(agreement(Y, predicted), groups),
    ]
    assert found == list(BY_NAME)
    assert {*RANKING_METRICS, *MAXIMA, *SET_METRICS} <= BY_NAME.keys()


def test_only_errors_are_better_when_lower():
    by_direction = {}
    for name, measure in BY_NAME.items():
        by_direction.setdefault(measure.better, set()).add(name)
    assert by_direction["lower"] == {"hamming_loss", "ece@1", "ece@3", "ece@5"}
    assert by_direction[None] == {*MAXIMA, "predicted_per_instance"}
