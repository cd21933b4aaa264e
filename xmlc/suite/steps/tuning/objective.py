"""What a trial is worth: the precision on validation of a model that is trained with its hyperparameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from xmlc.core.progress import Progress
from xmlc.kernels.estimator import Hyperparameters
from xmlc.metrics.ranking import K, hits_at_k
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.plt.estimator import PLT
from xmlc.suite.results.records.search import Trial, mean_precision
from xmlc.suite.steps.prepared import Prepared
from xmlc.suite.steps.timed import trained_beside

Make = Callable[[Hyperparameters], SparseProbabilityEstimator]


@dataclass(frozen=True)
class Validation:
    """What a trial is trained and scored on, and what is maximised."""

    #: The mean of P@1, P@3 and P@5 over so many 80/20 splits; None for P@1 on the first.
    splits: int | None = None
    #: Instances that trials are trained and scored on at most; None for all.
    fitted: int | None = None
    validated: int | None = None

    @property
    def chosen_by(self) -> str:
        """What is maximised."""
        what = f"mean of P@1, P@3 and P@5 over {self.splits} splits," if self.splits else "P@1"
        return f"{what} on the 20 % of the training set that validation holds"

    def worth(self, trial: Trial) -> float:
        """Return what is maximised of a trial."""
        return mean_precision(trial) if self.splits else trial["p@1"]


class ValidationPrecision:
    """The objective of every search: fit to one part of each split, score on the other, and keep the trial.

    Parameters
    ----------
    validation : Validation
    prepared : Prepared
        With the first split.
    make : callable
        Returns an estimator for the hyperparameters of a trial, which are all that trials differ in: the seed is one.
    progress : Progress
        Counts the trials.
    out : Path
        The path of the result. Models are written one at a time to a temporary folder next to it.
    tell : callable
        Called with a line about each trial at its end.

    Attributes
    ----------
    trials : list of Trial
        In order: hyperparameters, precisions as shares, seconds of training, paired errors.
    instances : int
        Of the validation parts, each counted once.
    """

    def __init__(
        self,
        validation: Validation,
        prepared: Prepared,
        make: Make,
        progress: Progress,
        out: Path,
        tell: Callable[[str], object],
    ) -> None:
        self._validation, self._make, self._progress = validation, make, progress
        self._out, self._tell = out, tell
        self._splits = [Prepared(prepared.folder, run) for run in range(validation.splits or 1)]
        rows = np.concatenate([split.rows("val", validation.validated) for split in self._splits])
        _, self._places, self._times = np.unique(rows, return_inverse=True, return_counts=True)
        self._scores: list[np.ndarray] = []
        self.trials: list[Trial] = []
        self.instances = self._times.size

    def __call__(self, hyperparameters: Hyperparameters) -> float:
        """Train with these hyperparameters and return the worth of the trial."""
        found, seconds = [], 0.0
        for split in self._splits:
            model, train = self._make(hyperparameters), split.part("fit", self._validation.fitted)
            with trained_beside(self._out, model, *train) as (spent, _):
                seconds += spent
                if isinstance(model, PLT) and model.search == "exact":
                    model.search = "certified"  # finds the same labels, and reads a mapped model node after node
                X, Y = split.part("val", self._validation.validated)
                found.append(hits_at_k(Y, model.predict_top_k(X, max(K))[0], max(K))[0])
        hits = np.concatenate(found).cumsum(axis=1)[:, np.array(K) - 1]
        shares = (hits.sum(axis=0) / (np.array(K) * hits.shape[0])).tolist()
        scores = np.bincount(self._places, (hits * (IN_ONE // 3 // np.array(K))).sum(axis=1)).astype(int)
        errors = [round(paired_error(scores - other, self._times) / IN_ONE, 6) for other in self._scores]
        precisions = {f"p@{k}": share for k, share in zip(K, shares, strict=True)}
        trial = {"hyperparameters": hyperparameters, **precisions, "train_seconds": round(seconds, 3)}
        self._scores.append(scores)
        self.trials.append(cast(Trial, trial | {"paired_errors": errors}))
        self._progress.update(1)
        worth = self._validation.worth(self.trials[-1])
        self._tell(f"trial {len(self.trials)}: {100 * worth:.2f}, trained in {seconds:.0f} s, {hyperparameters}")
        return worth


IN_ONE = 45  # scores of an instance are the mean of its P@1, P@3 and P@5 in units of 1/45, whole numbers


def paired_error(differences: np.ndarray, times: np.ndarray) -> float:
    """Return the standard error of a mean difference over splits that share instances.

    Sums are of whole numbers, so that it is 0 where nothing differs.

    Parameters
    ----------
    differences : ndarray of int64, shape (n,)
        Of each instance the sum over the splits that it is in.
    times : ndarray of int64, shape (n,)
        In how many it is.
    """
    n, in_all, total = times.size, int(times.sum()), int(differences.sum())
    squares, crossed, counts = (int((a * b).sum()) for a, b in ((differences,) * 2, (differences, times), (times,) * 2))
    spread = squares * in_all * in_all - 2 * crossed * in_all * total + counts * total * total
    return math.sqrt(spread * n / max(n - 1, 1)) / (in_all * in_all)
