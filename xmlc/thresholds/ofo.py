"""OFO: online F-measure optimisation (plt2016, Section 4.3, Algorithm 2; Busa-Fekete et al., NIPS 2015)."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import sparse

from xmlc.errors import XmlcError
from xmlc.parallel import row_blocks, run_pieces
from xmlc.thresholds._kernels import ofo_thresholds
from xmlc.thresholds.apply import ThresholdMethod, columns

LABELS_PER_BLOCK = 2048


class OFO(ThresholdMethod):
    """Thresholds tau_j = a_j / b_j that follow the online F-measure in one pass over the validation set.

    Parameters
    ----------
    a, b : float
        Initial values of every a_j and b_j, with 0 < a / b <= 0.5 (equation (5)).
    lower_bounds : ndarray of shape (m,) or None
        nu_j: thresholds are kept at or above it (Section 6.2).
    n_jobs : int or None
        Threads; the result does not depend on it.

    Notes
    -----
    Instances are taken in the order of the rows. An estimate that the SPE leaves out counts as not predicted.
    """

    def __init__(
        self, a: float = 1.0, b: float = 20.0, lower_bounds: np.ndarray | None = None, n_jobs: int | None = None
    ):
        self.a = a
        self.b = b
        self.lower_bounds = lower_bounds
        self.n_jobs = n_jobs

    def fit(self, spe: sparse.csr_array, Y: object) -> Self:
        """Pass over the validation set once; parameters as for `STO.fit`."""
        if not 0 < self.a / self.b <= 0.5:
            raise XmlcError(f"a={self.a}, b={self.b}: the initial threshold a/b must lie in (0, 0.5]")
        m = spe.shape[1]
        lower = np.zeros(m) if self.lower_bounds is None else self.lower_bounds
        arguments = (float(self.a), float(self.b), np.asarray(lower, dtype=np.float32))
        data = columns(spe, Y)
        pieces = [(data, start, end, *arguments) for start, end in row_blocks(m, LABELS_PER_BLOCK)]
        self.thresholds_ = np.concatenate(run_pieces(ofo_thresholds, pieces, self.n_jobs))
        return self
