"""A text classifier: a scikit-learn vectorizer, an estimator of `xmlc.models`, and label names."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from xmlc.core.checksums import check_listed, check_no_link, listed_in
from xmlc.core.errors import InvalidDataError, MissingFileError, XmlcError, shown
from xmlc.core.files import atomic_folder, checked_path, write_json
from xmlc.kernels.checks import sample_weights
from xmlc.kernels.csr import top_k_of
from xmlc.kernels.domains import MANY, OneOf, check, whole
from xmlc.kernels.estimator import Estimator, InvalidParameterError
from xmlc.kernels.stored import load_array, load_description
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.label_sets import (
    INSTANCE_F,
    MEASURE,
    MIN_PROBABILITY,
    estimates_of_sets,
    fitted_thresholds,
    ranked_set_of_row,
)
from xmlc.models.registry import DEFAULT, STREAMING, estimator_class, load_model
from xmlc.models.texts.analyzers import n_unknown, settings_for, warn_if_unknown, warn_if_unshared
from xmlc.models.texts.inputs import checked_pairs, checked_texts, indicator
from xmlc.models.texts.vectorizers import (
    default_vectorizer,
    load_vectorizer,
    save_vectorizer,
    transformed,
    unfitted_vectorizer,
)
from xmlc.models.wrapped import with_label_sets
from xmlc.thresholds.label_sets import SetMeasure

DESCRIPTION = "texts.json"


class TextClassifier(Estimator):
    """A classifier that assigns named labels to texts.

    Parameters
    ----------
    estimator : estimator of `xmlc.models`, optional
        Predicts labels from features. The default is `xmlc.models.Stacking` for `fit`, and
        `xmlc.models.OPLT` for `partial_fit`.
    vectorizer : transformer of scikit-learn, optional
        Turns texts into features. The default is a ``TfidfVectorizer`` for `fit`, and for
        `partial_fit` a ``HashingVectorizer``, which needs no vocabulary. Both make features of
        words, but also of characters and pairs of neighbours if the training texts (or the first
        batch) contain Chinese, Japanese, Thai or another script without blanks.
    measure : {"instance_f", "macro_f", "micro_f"}
        F-measure that label sets maximise: the mean over texts or over labels, or the F-measure of
        all pairs of both. For the last two, `fit` finds a threshold for each label on held-out
        texts, at most 2,000 and a fifth, for which any estimator other than `xmlc.models.Stacking`
        is trained a second time. This takes at least five texts. `partial_fit` needs "instance_f".

    Attributes
    ----------
    classes_ : ndarray of object, shape (m,)
        Names of the labels, sorted after `fit`, and in order of appearance after `partial_fit`.
    estimator_, vectorizer_ : estimator, transformer
        Fitted copies of both.
    thresholds_ : dict of str to ndarray of float32, shape (m,)
        The labels' thresholds by measure, empty for "instance_f".

    See Also
    --------
    xmlc.models.Stacking : The default estimator, for features instead of texts.

    Examples
    --------
    >>> import tempfile
    >>> from xmlc import TextClassifier
    >>> texts = ["boil rice", "fry onions", "prune roses"]
    >>> label_lists = [["cooking"], ["cooking"], ["garden"]]
    >>> model = TextClassifier().fit(texts, label_lists)
    >>> model.predict(["roses"], 1)[0][0][0]
    'garden'
    >>> model.predict_sets(["fry rice"]), model.score(texts, label_lists)
    ([['cooking']], 1.0)
    >>> folder = f"{tempfile.mkdtemp()}/model"
    >>> model.save(folder)
    >>> model = TextClassifier.load(folder)
    >>> labels, scores = model.predict_top_k(["roses"], k=1)
    >>> model.classes_[labels].tolist(), model.predict_proba(["roses"]).shape
    ([['garden']], (1, 2))
    >>> TextClassifier().partial_fit(texts, label_lists).classes_.tolist()
    ['cooking', 'garden']
    """

    def __init__(
        self,
        estimator: SparseProbabilityEstimator | None = None,
        vectorizer: Any = None,
        measure: SetMeasure = "instance_f",
    ) -> None:
        self.estimator = estimator
        self.vectorizer = vectorizer
        self.measure = measure

    def fit(
        self,
        texts: Iterable[str],
        label_lists: Iterable[Iterable[str]],
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from texts and the label names of each text.

        Parameters
        ----------
        texts : iterable of str, length n
        label_lists : iterable of iterable of str, length n
            Label names of each text, possibly none. Repetitions are ignored.
        sample_weight : array-like of float, shape (n,), optional
            Weight of each text, if the estimator accepts weights. Weight 0 leaves it out, and all
            others count equally in the vectorizer.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            Label names are a string instead of a list, a name is empty, the arguments differ in
            length, no text has a word, or scikit-learn is not installed.

        Warns
        -----
        UserWarning
            Most of at least 30 texts have no feature in common with another text.

        See Also
        --------
        partial_fit
        """
        check("measure", self.measure, MEASURE)
        texts, lists = checked_pairs(texts, label_lists, self.vectorizer)
        if not texts:
            raise InvalidDataError(
                "texts: found none, expected at least one. Check how the texts are read."
            )
        if sample_weight is not None:
            sample_weight = sample_weights(sample_weight, len(texts))
            kept = np.flatnonzero(sample_weight)
            texts = [texts[i] for i in kept]
            lists = [lists[i] for i in kept]
            sample_weight = sample_weight[kept]
        classes = sorted(set().union(*lists))
        if not classes:
            found = f"found no label in {len(texts)} texts"
            raise InvalidDataError(f"labels: {found}, expected some. Check how they are read.")
        vectorizer, estimator = self._new_parts(texts)
        X = transformed(vectorizer, texts, learning=True)
        warn_if_unshared(X)
        Y = indicator(lists, {name: j for j, name in enumerate(classes)})
        estimator._fit_rows(X, Y, sample_weight)
        thresholds = {}
        if self.measure != INSTANCE_F:
            thresholds[self.measure] = fitted_thresholds(
                estimator, X, Y, self.measure, sample_weight
            )
        self.thresholds_ = thresholds
        self.estimator_ = estimator
        self.vectorizer_ = vectorizer
        self.classes_ = np.array(classes, dtype=object)
        self._begin_learning()
        return self

    def partial_fit(self, texts: Iterable[str], label_lists: Iterable[Iterable[str]]) -> Self:
        """Learn from more texts, and add new label names to ``classes_``.

        Parameters
        ----------
        texts, label_lists
            As for `fit`.

        Returns
        -------
        self

        Raises
        ------
        XmlcError
            The arguments are invalid (see `fit`), the estimator has no ``partial_fit``, the
            vectorizer learns a vocabulary, or a setting of either has changed since learning began.

        See Also
        --------
        fit, xmlc.models.OPLT
        """
        check(
            "measure",
            self.measure,
            OneOf(("instance_f",)),
            "Use fit for thresholds of macro_f and micro_f.",
        )
        texts, lists = checked_pairs(texts, label_lists, self.vectorizer)
        if not texts:  # an empty batch of a stream changes nothing
            return self
        is_first = not hasattr(self, "estimator_")
        if is_first:
            vectorizer, estimator = self._new_parts(texts, stream=True)
            column: dict[str, int] = {}
        else:
            self._go_on_learning()
            vectorizer = self.vectorizer_
            estimator = self.estimator_
            column = {name: j for j, name in enumerate(self.classes_)}
        for part, example in ((estimator, "OPLT"), (vectorizer, "HashingVectorizer")):
            if not hasattr(part, "partial_fit"):
                found = type(part).__name__
                raise InvalidParameterError(
                    f"found {found}, expected an object with partial_fit. Use {example}."
                )
        for name in chain(*lists):
            column.setdefault(name, len(column))
        X = transformed(vectorizer, texts)
        estimator.partial_fit(X, indicator(lists, column))
        if is_first:
            warn_if_unshared(X)
            self._begin_learning()
        self.thresholds_ = {}
        self.estimator_ = estimator
        self.vectorizer_ = vectorizer
        self.classes_ = np.array([*column], dtype=object)
        return self

    def predict(self, texts: Iterable[str], k: int | None = None) -> list[list[tuple[str, float]]]:
        """Return the labels of each text as pairs of name and estimate, most probable first.

        Parameters
        ----------
        texts : iterable of str
        k : int, optional
            Number of labels per text, or fewer if the estimator ranks fewer. By default, a text
            gets the label set of `predict_sets`, which may be empty.

        Returns
        -------
        list of list of (str, float)

        Raises
        ------
        XmlcError
            The classifier is not fitted, or an argument is invalid.

        Warns
        -----
        UserWarning
            Most texts have no feature that the vectorizer learned.

        See Also
        --------
        predict_sets, predict_top_k
        """
        model = self._fitted()
        if k is not None:
            check("k", k, whole(1, MANY))
            ranked = self.predict_top_k(texts, min(k, max(1, model.n_labels_)))
            return ListPerText(named_labels(self.classes_, *ranked))
        X = self.features(texts)
        x = model._only_row(X)
        if x is not None and self.measure == INSTANCE_F:
            ranked = ranked_set_of_row(model, x)
        else:
            sets = self._sets(X)
            ranked = top_k_of(sets, max(1, int(np.diff(sets.indptr).max(initial=0))))
        return ListPerText(named_labels(self.classes_, *ranked))

    def predict_top_k(
        self, texts: Iterable[str], k: int, label_weights: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the k most probable labels of each text, as positions in ``classes_``, and their
        estimates.

        Parameters
        ----------
        texts : iterable of str
        k, label_weights
            As for `xmlc.models.base.SparseProbabilityEstimator.predict_top_k`.

        Returns
        -------
        labels : ndarray of int32, shape (n, k)
        scores : ndarray of float32, shape (n, k)

        Raises
        ------
        XmlcError
            As for `predict`.

        See Also
        --------
        predict, predict_proba
        """
        model = self._fitted()
        X = self.features(texts)
        x = model._only_row(X)
        if x is None:
            return model.predict_top_k(X, k, label_weights)
        return model._rank_row(x, model._check_k(k), model._label_weights(label_weights))

    def predict_proba(
        self, texts: Iterable[str], threshold: float | np.ndarray = 0.0
    ) -> sparse.csr_array:
        """Return the estimated probabilities above a threshold.

        Parameters
        ----------
        texts : iterable of str
        threshold : float or ndarray of shape (m,)

        Returns
        -------
        csr_array of float32, shape (n, m)
            Column j belongs to label ``classes_[j]``.

        Raises
        ------
        XmlcError
            As for `predict`.

        See Also
        --------
        predict_top_k
        """
        return self._fitted().predict_proba(self.features(texts), threshold)

    def predict_sets(self, texts: Iterable[str], thresholds: Any = None) -> list[list[str]]:
        """Return the label set of each text as a list of names.

        Parameters
        ----------
        texts : iterable of str
        thresholds : float, ndarray of shape (m,), or method of `xmlc.thresholds`, optional
            By default, the label set of a text maximises ``measure``, whatever the other texts are.
            With one threshold, or one per label, it has the labels whose estimates exceed theirs. A
            fitted method, such as `xmlc.thresholds.LabelSets`, chooses from estimates above 1e-4.

        Returns
        -------
        list of list of str

        Raises
        ------
        XmlcError
            As for `predict`.

        See Also
        --------
        predict, xmlc.thresholds
        """
        if hasattr(thresholds, "predict"):
            sets = thresholds.predict(self.predict_proba(texts, MIN_PROBABILITY))
        elif thresholds is None:
            sets = self._sets(self.features(texts))
        else:
            sets = self._fitted().predict(self.features(texts), thresholds)
        return [
            list(self.classes_[sets.indices[start:end]]) for start, end in pairwise(sets.indptr)
        ]

    def score(self, texts: Iterable[str], label_lists: Iterable[Iterable[str]]) -> float:
        """Return P@1: the share of texts whose most probable label is correct.

        scikit-learn's searches maximise it by default. A text without labels of the training set
        counts as wrong.

        Parameters
        ----------
        texts, label_lists
            As for `fit`.

        Returns
        -------
        float

        Raises
        ------
        XmlcError
            As for `predict`.

        See Also
        --------
        xmlc.metrics
        """
        texts, lists = checked_pairs(texts, label_lists, self.vectorizer)
        best = self.predict_top_k(texts, 1)[0][:, 0]
        n_right = sum(
            j >= 0 and self.classes_[j] in names for j, names in zip(best, lists, strict=True)
        )
        return n_right / max(len(texts), 1)

    def set_params(self, **params: Any) -> Self:
        """Set hyperparameters, including ones such as ``estimator__plt__arity`` or
        ``vectorizer__ngram_range``.

        Nested ones of an estimator or vectorizer that is None are set on the default of `fit`.

        Raises
        ------
        InvalidParameterError
            A hyperparameter does not exist.
        """
        for name in [*params]:
            part, _, inner = name.partition("__")
            if inner and params.get(part, getattr(self, part, "")) is None:
                defaults = {
                    "estimator": estimator_class(DEFAULT)(),
                    "vectorizer": default_vectorizer({}, False),
                }
                params[part] = defaults[part]
        return super().set_params(**params)

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator and vectorizer and the label names to a folder.

        A text vectorizer of scikit-learn with plain values as settings becomes JSON and arrays. Any
        other becomes a joblib pickle, which may run code when loaded, so `load` then needs
        ``trusted=True``.

        Parameters
        ----------
        path : str or Path

        Raises
        ------
        XmlcError
            As for `xmlc.models.base.SparseProbabilityEstimator.save`.

        See Also
        --------
        load
        """
        self._fitted()
        with atomic_folder(path) as folder:
            self.estimator_.save(folder / "model")
            vectorizer = save_vectorizer(folder, self.vectorizer_)
            about = {
                "classes": list(self.classes_),
                "vectorizer": vectorizer,
                "measure": self.measure,
            }
            for measure, thresholds in self.thresholds_.items():
                np.save(folder / f"{measure}.npy", thresholds)
            write_json(folder / DESCRIPTION, about | {"thresholds": list(self.thresholds_)})

    @classmethod
    def load(cls, path: str | Path, trusted: bool = False) -> Self:
        """Read a classifier that `save` wrote, with memory-mapped arrays of the estimator.

        Parameters
        ----------
        path : str or Path
        trusted : bool
            Allow joblib pickles, which may run code from the folder.

        Returns
        -------
        TextClassifier

        Raises
        ------
        XmlcError
            The folder has no text classifier, a file that was changed after `save`, or a pickle
            without ``trusted``.

        See Also
        --------
        save, xmlc.load_model
        """
        folder = checked_path(path)
        if not (folder / DESCRIPTION).exists():
            said = (
                "expected a folder written by TextClassifier.save. Use xmlc.load_model for other "
                "models."
            )
            raise MissingFileError(f"{folder}: found no {DESCRIPTION}, {said}")
        for name in listed_in(folder):
            check_listed(folder, name)
        about = load_description(folder / DESCRIPTION, {"classes": list, "vectorizer": dict})
        check_no_link(folder / "model")
        estimator = load_model(folder / "model", trusted)
        try:
            vectorizer = load_vectorizer(folder, about["vectorizer"], trusted)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            said = (
                "Train the classifier again with the installed versions of xmlc and scikit-learn."
            )
            raise XmlcError(f"{folder}: the vectorizer cannot be read ({error}). {said}") from error
        names = about["classes"]
        if len(names) != estimator.n_labels_ or not all(isinstance(name, str) for name in names):
            found = (
                f"found {len(names)} names of labels, expected {estimator.n_labels_} texts, one "
                "per label"
            )
            raise XmlcError(f"{folder / DESCRIPTION}: {found}. Train the classifier again.")
        measure = about.get("measure", INSTANCE_F)  # which an earlier version did not store
        model = cls(estimator.unfitted(), unfitted_vectorizer(vectorizer), measure)
        model.estimator_ = estimator
        model.vectorizer_ = vectorizer
        model.classes_ = np.array(names, dtype=object)
        model.thresholds_ = {}
        for name in about.get("thresholds", []):
            check("thresholds", name, MEASURE)
            thresholds = load_array(folder / f"{name}.npy", np.float32, (len(names),))
            model.thresholds_[name] = np.asarray(thresholds)
        model._begin_learning()
        return model

    def _new_parts(self, texts: list[str], stream: bool = False) -> tuple[Any, Any]:
        if self.vectorizer is None:
            vectorizer = default_vectorizer(settings_for(texts), stream)
        else:
            vectorizer = unfitted_vectorizer(self.vectorizer)
        estimator: Any = self.estimator
        if estimator is None:
            estimator = estimator_class(STREAMING if stream else DEFAULT)()
        elif not isinstance(estimator, SparseProbabilityEstimator):
            said = f"an estimator of xmlc.models, such as PLT(). {with_label_sets(estimator)}."
            raise InvalidParameterError(f"estimator: found {shown(estimator)}, expected {said}")
        return vectorizer, estimator.unfitted()

    def own_thresholds(self) -> np.ndarray | None:
        """Return the labels' thresholds for ``measure``, float32 (m,), or None for "instance_f".

        Raises
        ------
        XmlcError
            ``measure`` is unknown, or has changed since `fit`.
        """
        self._check_learned("estimator_")
        check("measure", self.measure, MEASURE)
        if self.measure == INSTANCE_F:
            return None
        if self.measure not in self.thresholds_:
            fitted = next(iter(self.thresholds_), INSTANCE_F)
            found = f"found measure={self.measure!r} after training, expected {fitted!r}"
            raise InvalidParameterError(f"TextClassifier: {found}. Call fit again.")
        return self.thresholds_[self.measure]

    def _sets(self, X: Any) -> sparse.csr_array:
        thresholds = self.own_thresholds()
        if thresholds is None:
            return estimates_of_sets(self._fitted(), X)
        return self._fitted().predict_proba(X, thresholds)

    def _fitted(self) -> SparseProbabilityEstimator:
        self._check_learned("estimator_")
        estimator: SparseProbabilityEstimator = self.estimator_
        return estimator

    def features(self, texts: Iterable[str]) -> Any:
        """Return the features of texts, sparse (n, d), which are the input of ``estimator_``."""
        model = self._fitted()
        texts = checked_texts(texts, self.vectorizer)
        if not texts:  # vectorizers raise an error for an empty list
            return sparse.csr_array((0, model.n_features_in_), dtype=np.float32)
        X = transformed(self.vectorizer_, texts)
        warn_if_unknown("texts", n_unknown(X), X.shape[0])
        return X


class ListPerText(list[Any]):
    """A list that NumPy converts to a one-dimensional array of lists, one per text.

    scikit-learn's ``cross_val_predict`` joins the predictions of its folds as arrays.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = np.empty(len(self), dtype=object)
        for place, labels in enumerate(self):
            array[place] = labels
        return array


def named_labels(
    names: Any, labels: np.ndarray, scores: np.ndarray, digits: int | None = None
) -> list[list[tuple[Any, float]]]:
    """Return the ranked labels of each instance as pairs of name and score, perhaps rounded."""
    found = []
    for ids, values in zip(labels.tolist(), scores.tolist(), strict=True):
        if digits is not None:
            values = [round(value, digits) for value in values]
        found.append([(names[j], value) for j, value in zip(ids, values, strict=True) if j >= 0])
    return found
