"""The best labels of an instance, kept in order while more are found: kernel."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def insert_best(labels, estimates, label, estimate):
    """Insert a label into a list of the best, sorted by estimate, ties to the smaller label; -1 marks a free place."""
    place = labels.size
    while place > 0 and (
        labels[place - 1] < 0
        or estimate > estimates[place - 1]
        or (estimate == estimates[place - 1] and label < labels[place - 1])
    ):
        place -= 1
    if place == labels.size:
        return
    for j in range(labels.size - 1, place, -1):
        labels[j] = labels[j - 1]
        estimates[j] = estimates[j - 1]
    labels[place] = label
    estimates[place] = estimate
