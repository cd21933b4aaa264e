"""The sizes of a dataset, from what is counted or listed."""

import numpy as np
import pytest
from planning_cases import LARGE, SMALL

from xmlc.planning.shape import Shape


def test_the_catalogue_has_either_names_of_counts_and_common_ones_where_it_is_silent():
    assert (LARGE.d, LARGE.m, LARGE.values) == (135909, 670091, 490449 * 75)
    unknown = Shape.of_entry({})
    assert unknown.n_train > 0
    assert unknown.nonzeros == 100
    assert Shape.of_entry({"d": 3, "m": 2}).nonzeros == 3


def test_a_group_of_labels_has_the_instances_that_have_one_of_them():
    rng = np.random.default_rng(0)
    Y = rng.random((4880, 159)) < 2.4 / 159
    for labels in (5, 20, 159):
        assert float(SMALL.instances_of(labels)) == pytest.approx(Y[:, :labels].any(axis=1).sum(), rel=0.1)


def test_an_instance_has_its_own_features():
    assert float(SMALL.features_of(1)) >= SMALL.nonzeros
    assert float(SMALL.features_of(4880)) == pytest.approx(1836)


def test_a_share_of_the_training_set():
    part = SMALL.sampled(0.8)
    assert part.n_train == pytest.approx(0.8 * 4880)
    assert (part.n_test, part.m, part.nonzeros) == (SMALL.n_test, SMALL.m, SMALL.nonzeros)
