"""Shapes of datasets, for tests of what jobs are expected to take."""

from dataclasses import replace

from xmlc.planning.shape import Shape

SMALL = Shape.of_entry(
    {"n_train": 4880, "n_test": 2515, "n_features": 1836, "n_labels": 159, "nonzeros": 69, "labels_per_instance": 2.4}
)
LARGE = Shape.of_entry(
    {"n_train": 490449, "n_test": 153025, "d": 135909, "m": 670091, "nonzeros": 75, "labels_per_instance": 5.45}
)
SIZES = ("n_train", "n_test", "nonzeros", "labels_per_instance")


def larger(shape, name):
    """Return a shape with one size times four."""
    return replace(shape, **{name: 4 * getattr(shape, name)})
