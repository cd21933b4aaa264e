"""STO: sorting-based (search-based) threshold optimisation (plt2016, Section 4.1, Algorithm 1)."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.parallel import row_blocks, run_pieces
from xmlc.thresholds._kernels import sto_cuts
from xmlc.thresholds.apply import ThresholdMethod, columns

LABELS_PER_BLOCK = 2048


class STO(ThresholdMethod):
    """For each label the threshold with the highest F-measure on the validation set, found by sorting.

    With ``kappa=0`` and an SPE that holds every estimate this is the exact maximiser of the validation macro-F. Of
    thresholds with equal F the highest is taken (fewest predictions). A label for which nothing is best predicted
    gets its largest estimate as threshold, one without estimates above the floor its kappa.

    Parameters
    ----------
    kappa : float or ndarray of shape (m,)
        Floors kappa_j: only estimates strictly greater are candidates.
    clip : float or None
        Upper limit of the thresholds. The authors' program clips at 0.5, the upper end of (5); the paper does not.
    positives : {"all", "above_floor"}
        What counts as a positive in F: all of them (the paper's F), or only those whose estimate is above the
        floor (the program's).
    n_jobs : int or None
        Threads; the result does not depend on it.
    """

    def __init__(
        self,
        kappa: float | np.ndarray = 0.0,
        clip: float | None = None,
        positives: str = "all",
        n_jobs: int | None = None,
    ):
        self.kappa = kappa
        self.clip = clip
        self.positives = positives
        self.n_jobs = n_jobs

    def fit(self, spe: sparse.csr_array, Y: object) -> Self:
        """Find the thresholds in time O(e log e) for e stored estimates.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Estimates of the validation set.
        Y : boolean CSR, shape (n, m)
            Its label sets.
        """
        if self.positives not in ("all", "above_floor"):
            raise XmlcError(f"positives={self.positives!r}: expected 'all' or 'above_floor'")
        m = spe.shape[1]
        floors = np.broadcast_to(np.asarray(self.kappa, dtype=np.float32), (m,)).copy()
        data = columns(spe, Y)
        pieces = [(data, start, end, floors, self.positives == "all") for start, end in row_blocks(m, LABELS_PER_BLOCK)]
        found = run_pieces(sto_cuts, pieces, self.n_jobs)
        cuts, some = (np.concatenate(part) for part in zip(*found))
        self.thresholds_ = np.where(some, np.nextafter(cuts, np.float32(0)), cuts)
        if self.clip is not None:
            self.thresholds_ = np.minimum(self.thresholds_, np.float32(self.clip))
        return self
