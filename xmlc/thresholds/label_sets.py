"""Label sets for an F-measure, by the method with the best results in our experiments."""

from __future__ import annotations

import math
import warnings
from typing import Literal, Self

import numpy as np

from xmlc.core.errors import InvalidDataError
from xmlc.inference.distributions import LEAST
from xmlc.inference.meuf import meuf
from xmlc.inference.sizes import fit_size_weights, gfm_sizes
from xmlc.kernels.csr import CSR, Matrix, as_estimates, per_label, warn_of_sums
from xmlc.kernels.domains import one_of
from xmlc.kernels.estimator import Estimator, check_hyperparameters, hyperparameters, param
from xmlc.thresholds.calibration import IsotonicCalibration
from xmlc.thresholds.expected import WRONG, ExpectedF
from xmlc.thresholds.methods import apply_thresholds

SetMeasure = Literal["macro_f", "micro_f", "instance_f"]
# `ExpectedF.min_share` for thresholds fitted on some instances and applied to others. On the
# validation splits of four datasets, .125 changes macro-F by at most .3 points, and .5 lowers it by
# up to .9.
MIN_SHARE = 0.25
DECADES = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


@hyperparameters
class LabelSets(Estimator):
    """Label sets with a high F-measure from estimates, with or without labelled instances.

    With labelled instances, the estimates are first calibrated (`IsotonicCalibration`, for each
    decade of ``prior``), so they may also be scores that are not probabilities. The method depends
    on the measure:

    ============  ==============================================================================
    macro_f       `ExpectedF`: a threshold for each label
    micro_f       one `ExpectedF` for all estimates, as if all belonged to one label
    instance_f    `xmlc.inference.gfm_sizes` with labels, `xmlc.inference.meuf` without
    ============  ==============================================================================

    Parameters
    ----------
    measure : {"macro_f", "micro_f", "instance_f"}
        The F-measure to maximise.

    Attributes
    ----------
    method_ : {"ExpectedF", "gfm_sizes", "meuf"}
        The method that predicts the sets.
    calibration_ : IsotonicCalibration or None
        The fitted calibration, or None without labels.
    thresholds_ : ndarray of float32, shape (m,)
        Thresholds for calibrated estimates, only for "macro_f" and "micro_f".
    size_weights_ : ndarray of float64, shape (S,)
        From `xmlc.inference.fit_size_weights`, only for "instance_f" with labels.
    n_labels_ : int

    See Also
    --------
    apply_thresholds : The prediction rule of the thresholds.
    STO : Thresholds that are exactly optimal on the labelled instances.

    Examples
    --------
    >>> from xmlc.thresholds import LabelSets
    >>> spe = [[0.6, 0.3], [0.4, 0.2], [0.1, 0.1]]
    >>> LabelSets("micro_f").fit(spe).predict(spe).toarray().astype(int).tolist()
    [[1, 1], [1, 0], [0, 0]]
    """

    measure: SetMeasure = param(one_of(SetMeasure), default="macro_f")

    def fit(self, spe: Matrix, Y: Matrix | None = None, prior: np.ndarray | None = None) -> Self:
        """Choose and fit the method.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            With ``Y``, estimates of instances outside the model's training set, and otherwise of
            the instances to predict. For macro-F over many new instances, transform their estimates
            by ``calibration_`` and fit again without ``Y``: thresholds learned on them find more
            rare labels.
        Y : boolean CSR, shape (n, m), optional
            Label sets of the instances.
        prior : ndarray of shape (m,), optional
            Share of the training set that carries each label (`xmlc.thresholds.priors`). For
            "instance_f" without ``Y``, it changes no set and only decides whether to warn.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            If the shapes differ, an estimate or a share is out of its range, or ``measure`` is
            unknown.

        Warns
        -----
        UserWarning
            If ``Y`` is None and the sum of the estimates shows that they cannot be probabilities.
        """
        check_hyperparameters(self)
        self._remember_names(spe)
        spe = as_estimates(spe, np.float32)
        n, self.n_labels_ = spe.shape
        shares = None
        groups = None
        expected = float(n)  # number of positives
        if prior is not None:
            shares = per_label(prior, self.n_labels_, np.float64, "prior", "share")
            groups = np.searchsorted(DECADES, shares, side="right")
            expected = n * math.fsum(shares)
        self.calibration_ = None
        if Y is not None:
            self.calibration_ = IsotonicCalibration(groups).fit(spe, Y)
            spe = self.calibration_.transform(spe)
        # For macro-F with ``prior``, `ExpectedF` checks the sum
        elif shares is None or self.measure != "macro_f":
            least = LEAST
            most = np.inf
            if shares is not None:
                if self.measure == "micro_f":
                    least = 1 / WRONG
                most = expected / least
            warn_of_sums(float(spe.data.sum(dtype=np.float64)), least * expected, most, n)
        method = "ExpectedF"
        if self.measure == "macro_f":
            min_share = 0.0 if Y is None else MIN_SHARE
            self.thresholds_ = ExpectedF(prior=shares, min_share=min_share).fit(spe).thresholds_
        elif self.measure == "micro_f":
            self.thresholds_ = self._common_threshold(spe, expected, shares is not None)
        elif Y is None:
            method = "meuf"
        else:
            method = "gfm_sizes"
            self.size_weights_ = fit_size_weights(spe, Y)
        self.method_ = method  # assigned last, so that an estimator that failed is not fitted
        return self

    def _common_threshold(self, spe: CSR, expected: float, has_prior: bool) -> np.ndarray:
        """Return the threshold of `ExpectedF` for all estimates as one label, float32 (m,)."""
        # Zeros are added because more positives may be expected than estimates are stored
        pairs = np.zeros((max(spe.nnz, math.ceil(expected)), 1), dtype=np.float32)
        pairs[: spe.nnz, 0] = spe.data
        pooled = None
        if has_prior:
            pooled = np.array([expected / max(pairs.size, 1)])
        with warnings.catch_warnings():
            # The sum of the estimates is already checked
            warnings.simplefilter("ignore")
            method = ExpectedF(prior=pooled).fit(pairs)
        return np.repeat(method.thresholds_, self.n_labels_)

    def limits(self) -> np.ndarray:
        """Return the thresholds of "macro_f" or "micro_f" before calibration, float32 (m,).

        `predict` chooses a label if and only if its estimate exceeds this limit, so a model's
        ``predict_proba`` may take the limits.
        """
        self._check_learned("thresholds_")
        if self.calibration_ is None:
            return self.thresholds_
        return self.calibration_.before(self.thresholds_)

    def predict(self, spe: Matrix) -> CSR:
        """Predict label sets.

        Parameters
        ----------
        spe : csr_array of float32, shape (n, m)
            Estimates before calibration.

        Returns
        -------
        csr_array of bool, shape (n, m)

        Raises
        ------
        XmlcError
            If the number of labels differs from ``fit``, or an estimate is not in 0 .. 1.
        """
        self._check_learned("method_")
        self._check_names(spe)
        spe = as_estimates(spe, np.float32)
        if spe.shape[1] != self.n_labels_:
            raise InvalidDataError(
                f"estimates: found {spe.shape[1]} labels, expected {self.n_labels_} as in fit"
            )
        if self.calibration_ is not None:
            spe = self.calibration_.transform(spe)
        if self.method_ == "ExpectedF":
            return apply_thresholds(spe, self.thresholds_)
        if self.method_ == "meuf":
            return meuf(spe)[0]
        return gfm_sizes(spe, self.size_weights_)[0]
