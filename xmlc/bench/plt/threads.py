"""What several threads give: times, and whether models and their answers are the same bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from xmlc.bench.answers import differing
from xmlc.bench.plt.contenders import SEARCHES, Answer, Ours, name_of
from xmlc.bench.results import INLINE
from xmlc.models.plt import PLT


@dataclass(frozen=True)
class SpeedUp:
    """Several threads beside one.

    Attributes
    ----------
    training : float
        How many times as fast.
    differing_arrays : list of str
        Of the model and of its answers: not the same bits.
    prediction : dict of float
        How many times as fast, by search.
    """

    training: float
    differing_arrays: list[str]
    prediction: dict[str, float] = field(metadata=INLINE)


def speed_up(
    solver: str,
    threads: int,
    ours: Ours,
    seconds: Mapping[str, float],
    ms: Mapping[str, float],
    answers: Mapping[str, Answer],
) -> SpeedUp:
    """Compare one thread with several, by the best times of training and of asking."""
    one, several = (ours[solver, n] for n in (1, threads))
    arrays, prediction = differing(learned(one), learned(several)), {}
    for search in SEARCHES:
        names = [name_of(solver, n, search) for n in (1, threads)]
        prediction[search] = ms[names[0]] / ms[names[1]]
        first, second = (dict(zip(("labels", "scores"), answers[name])) for name in names)
        arrays += [f"{array}, {search}" for array in differing(first, second)]
    return SpeedUp(seconds[name_of(solver, 1)] / seconds[name_of(solver, threads)], arrays, prediction)


def learned(model: PLT) -> dict[str, np.ndarray]:
    """Return all arrays that a PLT has learned."""
    return {"parent": model.tree_.parent, **model.nodes_._asdict()}
