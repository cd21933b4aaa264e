"""One threshold per label for micro-averaged measures, exact on the validation set."""

from __future__ import annotations

from typing import Self

import numpy as np

from xmlc.estimator import hyperparameters
from xmlc.metrics.overlap import F1, Overlap
from xmlc.thresholds._micro import priced_cuts, sort_keys
from xmlc.thresholds.apply import ThresholdMethod
from xmlc.thresholds.columns import Columns, run_by_label


@hyperparameters
class MicroLabelWise(ThresholdMethod):
    """The thresholds, one for each label, with the highest micro-averaged measure on the validation set.

    The measure grows with r = TP / (w P + predicted) of the pooled counts, where w is its weight of the positives. At
    the best r every label is cut where TP - r * predicted is most, and r follows from the cuts: a fixed point, reached
    from below in a few rounds (Dinkelbach, Management Science 1967). It is the plug-in rule of Koyejo et al. (NIPS
    2015), which predicts what is more probable than r, but it takes a label's estimates as a ranking only.

    With the true probabilities one common threshold is as good, and `CommonThreshold`, which chooses one number
    instead of m, fits the validation set less closely; where a model's estimates are too high for some labels and too
    low for others, this method makes up for it. Time is O(e log e) for e stored estimates, memory 4 bytes for each.

    Parameters
    ----------
    overlap, n_jobs
        The measure and the threads, as of `CommonThreshold`.

    Attributes
    ----------
    thresholds_ : ndarray of float32, shape (m,)
        Of a label without estimates 0, of one for which nothing is best predicted its largest estimate.
    """

    overlap: Overlap = F1
    n_jobs: int | None = None

    def fit_columns(self, data: Columns) -> Self:
        """Sort each label's estimates once, then cut at a rising price until it is what the cuts reach."""
        keys = np.empty(data.estimates.size, dtype=np.uint32)
        run_by_label(sort_keys, data, self.n_jobs, keys)
        self.thresholds_ = np.zeros(data.n_labels, dtype=np.float32)
        chosen = np.zeros((data.n_labels, 2), dtype=np.int64)
        price, reached = -1.0, 0.0
        while reached > price:
            price = reached
            run_by_label(priced_cuts, data, self.n_jobs, keys, price, chosen, self.thresholds_.view(np.uint32))
            hits, predicted = chosen.sum(axis=0)
            reached = hits / max(self.overlap.recall * data.true_rows.size + predicted, 1)
        return self
