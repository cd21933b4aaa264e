"""The best labels or nodes of an instance, kept in order while more are found: kernel."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True, inline="always")
def _comes_before(label, estimate, other, other_estimate):
    """Whether a label ranks before another: by the greater estimate, of equal ones by the smaller label."""
    return estimate > other_estimate or (estimate == other_estimate and (label < other or other < 0))


@njit(cache=True, nogil=True)
def insert_best(labels, estimates, label, estimate):
    """Insert a label into a list of the best, sorted by estimate, ties to the smaller label; O(k).

    A free entry has an estimate that is no greater than any that is offered, and where it may be equal the label -1.
    """
    place = labels.size - 1
    if place < 0 or not _comes_before(label, estimate, labels[place], estimates[place]):
        return
    while place > 0 and _comes_before(label, estimate, labels[place - 1], estimates[place - 1]):
        labels[place], estimates[place] = labels[place - 1], estimates[place - 1]
        place -= 1
    labels[place], estimates[place] = label, estimate
