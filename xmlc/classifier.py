"""What scikit-learn's tools ask of a classifier of label sets: predict, score, classes, tags, pickles."""

from __future__ import annotations

from dataclasses import is_dataclass
from mmap import mmap
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.csr import as_labels
from xmlc.errors import InvalidDataError
from xmlc.estimator import Estimator, not_fitted


class LabelSetClassifier(Estimator):
    """Base of the estimators that predict label sets, from what they say by ``predict_proba`` and ``predict_top_k``.

    Attributes
    ----------
    classes_ : ndarray of int64, shape (m,)
        The labels: column j of label sets is label j.
    """

    n_labels_: int

    def predict_proba(self, X: object, threshold: float | np.ndarray = 0.0) -> sparse.csr_array:
        """Return the estimates above a threshold; see `xmlc.models.base.SparseProbabilityEstimator.predict_proba`."""
        raise TypeError(f"{type(self).__name__} does not implement predict_proba")

    def predict_top_k(self, X: object, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Rank labels; see `xmlc.models.base.SparseProbabilityEstimator.predict_top_k`."""
        raise TypeError(f"{type(self).__name__} does not implement predict_top_k")

    def predict(self, X: object, thresholds: float | np.ndarray = 0.5) -> sparse.csr_array:
        """Return the label sets: the labels whose estimates are above a threshold.

        With one half they maximise the expected share of right decisions; that is seldom what is wanted where most
        labels are rare, and a method of `xmlc.thresholds` finds better ones.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        thresholds : float or ndarray of shape (m,)
            One for all labels, or one for each.

        Returns
        -------
        csr_array of bool, shape (n, m)
            The stored entries are the labels predicted.
        """
        spe = self.predict_proba(X, thresholds)
        return sparse.csr_array((np.ones(spe.nnz, dtype=bool), spe.indices, spe.indptr), shape=spe.shape)

    def score(self, X: object, y: object) -> float:
        """Return the precision of the label that is ranked first, P@1 (`xmlc.metrics.precision_at_k`).

        What scikit-learn's searches and cross-validation maximise unless they are given ``scoring``, and `xmlc tune`
        too. scikit-learn's own classifiers return the share of label sets that are right in every label, which is close
        to 0 for all models of many labels and tells none from another; P@1 depends on no thresholds either.

        Parameters
        ----------
        X : sparse or dense array, shape (n, d)
        y : sparse or dense boolean array, shape (n, m)
            Their label sets.
        """
        Y, first = as_labels(y), self.predict_top_k(X, 1)[0][:, 0]
        if Y.shape[0] != first.size:
            raise InvalidDataError(f"X has {first.size} instances but Y has {Y.shape[0]}")
        known = np.flatnonzero(first >= 0)
        return float(np.count_nonzero(Y[known, first[known]])) / max(Y.shape[0], 1)

    @property
    def classes_(self) -> np.ndarray:
        """The labels, int64, shape (m,): column j of label sets is label j."""
        self._check_fitted()
        return np.arange(self.n_labels_)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state from a pickle; what joblib maps read-only is mapped as kernels take it."""
        self.__dict__.update(writeable_maps(state))

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: a classifier of label sets, of sparse instances."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags(multi_class=False, multi_label=True)
        tags.target_tags.required = tags.target_tags.two_d_labels = tags.target_tags.multi_output = True
        tags.target_tags.single_output, tags.input_tags.sparse = False, True
        return tags

    def _is_fitted(self) -> bool:
        return hasattr(self, "n_labels_")

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            raise not_fitted(self)

    def _label_thresholds(self, threshold: float | np.ndarray) -> np.ndarray:
        """Return one float32 threshold per label from a number or an array of shape (m,)."""
        self._check_fitted()
        try:
            thresholds = np.asarray(threshold, dtype=np.float32)
        except (TypeError, ValueError):
            raise InvalidDataError(f"threshold={threshold!r}: expected a number, or one for each label") from None
        if thresholds.ndim == 0:
            thresholds = np.full(self.n_labels_, thresholds, dtype=np.float32)
        if thresholds.shape != (self.n_labels_,):
            raise InvalidDataError(f"threshold has shape {thresholds.shape}, expected a number or ({self.n_labels_},)")
        if np.isnan(thresholds).any():
            raise InvalidDataError("threshold holds NaN")
        return thresholds


def writeable_maps(state: Any) -> Any:
    """Replace read-only maps of files in the state of an estimator by copy-on-write maps of the same bytes.

    ``joblib.load(file, mmap_mode="r")`` maps arrays read-only, and so do its workers. To numba these are another type:
    each kernel would be compiled again, and an estimator that goes on learning could not write. A change of a
    copy-on-write map stays in this process.

    Parameters
    ----------
    state : object
        Dictionaries, lists, tuples and NamedTuples are walked through, and dataclasses changed in place.

    Returns
    -------
    object
        The same, with other arrays.
    """
    if isinstance(state, np.memmap):
        return state if state.flags.writeable else _mapped_again(state)
    if isinstance(state, dict):
        return {name: writeable_maps(value) for name, value in state.items()}
    if isinstance(state, list):
        return [writeable_maps(value) for value in state]
    if isinstance(state, tuple):
        parts = [writeable_maps(value) for value in state]
        return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)
    if is_dataclass(state) and not isinstance(state, type):
        vars(state).update(writeable_maps(vars(state)))  # it may be frozen
    return state


def _mapped_again(array: np.memmap) -> np.ndarray:
    """Return a copy-on-write map of what a map shows; a copy, if it shows a part of one only."""
    base: object = array.base  # the map itself, or an array of which this one is a part
    if not array.flags.c_contiguous or not isinstance(base, mmap):
        return np.array(array)
    mapped: np.ndarray = np.memmap(str(array.filename), array.dtype, "c", array.offset, array.shape)
    return mapped.view(np.ndarray)
