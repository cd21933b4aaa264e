"""Test the benchmark of defaults: its trials are the trials of `xmlc tune`, and the best trial is
scored.
"""

import pytest

from benchmarks.defaults import SPACES
from xmlc.kernels.estimator import check_hyperparameters
from xmlc.models.registry import make_estimator
from xmlc.suite.config.ranges import parse_space
from xmlc.suite.steps.tune import random_trials


@pytest.mark.parametrize("estimator", SPACES)
def test_estimator_accepts_each_trial(estimator):
    for values in random_trials(parse_space(SPACES[estimator]), 30, 0):
        check_hyperparameters(make_estimator(estimator, values, 0))
