"""What one trial is worth: P@1 on the 20 % of the training set that validation holds (plt2016, Section 6.1)."""

from __future__ import annotations

from scipy import sparse

from xmlc.estimator import Hyperparameters
from xmlc.metrics.ranking import precision_at_k
from xmlc.models.registry import make_estimator
from xmlc.passport import timed
from xmlc.records.training import Trial
from xmlc.runtime.progress import Progress
from xmlc.tuning.journal import Journal

Part = tuple[sparse.csr_array, sparse.csr_array]


class ValidationPrecision:
    """The objective of every search: fit to one part, return P@1 on the other, and keep the trial.

    Parameters
    ----------
    estimator : str
        Name, or ``path/to/file.py:ClassName``.
    fixed : dict
        Hyperparameters of all trials; those of a trial are put over them.
    seed : int
        Of the estimators. Trials share it, so that hyperparameters are all they differ in.
    threads : int
    fit, validation : (X, Y)
        X : (n, d) float32 CSR; Y : (n, m) bool CSR.
    progress : Progress
        Counts the trials.
    journal : Journal or None
        Trials that it has are not trained again; it is given the others.

    Attributes
    ----------
    trials : list of Trial
        In order: hyperparameters, precisions as shares, seconds of training.
    """

    def __init__(
        self,
        estimator: str,
        fixed: Hyperparameters,
        seed: int,
        threads: int,
        fit: Part,
        validation: Part,
        progress: Progress,
        journal: Journal | None = None,
    ) -> None:
        self._estimator, self._fixed, self._seed, self._threads = estimator, fixed, seed, threads
        self._fit, self._validation, self._progress, self._journal = fit, validation, progress, journal
        self.trials: list[Trial] = []

    def __call__(self, hyperparameters: Hyperparameters) -> float:
        """Train with these hyperparameters and return P@1 on the validation part, a share."""
        trial = self._journal.finished(hyperparameters) if self._journal else None
        if trial is None:
            trial = self._tried(hyperparameters)
            if self._journal:
                self._journal.keep(trial)
        self.trials.append(trial)
        self._progress.update(1)
        return trial["p@1"]

    def _tried(self, hyperparameters: Hyperparameters) -> Trial:
        model = make_estimator(self._estimator, self._fixed | hyperparameters, self._seed, self._threads)
        _, seconds = timed(lambda: model.fit(*self._fit))
        X, Y = self._validation
        labels, _ = model.predict_top_k(X, 5)
        return {
            "hyperparameters": hyperparameters,
            "p@1": float(precision_at_k(Y, labels, 1)),
            "p@3": float(precision_at_k(Y, labels, 3)),
            "p@5": float(precision_at_k(Y, labels, 5)),
            "train_seconds": round(seconds, 3),
        }
