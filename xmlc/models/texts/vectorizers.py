"""Copies and files of scikit-learn's vectorizers, without pickles if possible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from xmlc.core.checksums import listed_in
from xmlc.core.errors import (
    InvalidDataError,
    InvalidParameterError,
    MissingFileError,
    needs_extra,
    shown,
)
from xmlc.core.files import read_json, write_json
from xmlc.kernels.indices import Malformed, check_array, check_within
from xmlc.kernels.stored import FINITE, load_array
from xmlc.models import pickled

# Stored without a pickle. HashingVectorizer learns nothing, CountVectorizer a vocabulary, and
# TfidfVectorizer word weights as well.
KNOWN = ("TfidfVectorizer", "CountVectorizer", "HashingVectorizer")
STREAMED = 2**20  # features of a stream of texts
VOCABULARY = "vocabulary.json"
WEIGHTS = "idf.npy"
PICKLE = "vectorizer.joblib"


def make_vectorizer(name: str, **given: Any) -> Any:
    """Return a scikit-learn vectorizer of the class ``name``."""
    try:
        from sklearn.feature_extraction import text
    except ImportError as error:
        raise needs_extra("scikit-learn is not installed", "text") from error
    return getattr(text, name)(**given)


def default_vectorizer(settings: dict[str, Any], stream: bool) -> Any:
    """Return the default vectorizer for a stream of texts, or for texts that are read at once."""
    if stream:
        return make_vectorizer(
            "HashingVectorizer", n_features=STREAMED, alternate_sign=False, **settings
        )
    return make_vectorizer("TfidfVectorizer", **settings)


def unfitted_vectorizer(vectorizer: Any) -> Any:
    """Return an unfitted copy of a vectorizer, or raise an error if it is no such object."""
    from sklearn.base import clone

    if isinstance(vectorizer, type) or not all(
        hasattr(vectorizer, name) for name in ("fit_transform", "transform")
    ):
        said = "expected a vectorizer of scikit-learn, such as TfidfVectorizer()"
        raise InvalidParameterError(f"vectorizer: found {shown(vectorizer)}, {said}")

    return clone(vectorizer)


def save_vectorizer(folder: Path, vectorizer: Any) -> dict[str, object]:
    """Write a vectorizer to a folder, and return the JSON entries for `load_vectorizer`."""
    name = type(vectorizer).__name__
    given = vectorizer.get_params(deep=False)
    for key, value in given.items():
        if isinstance(value, np.generic):
            given[key] = value.item()
    if "dtype" in given:
        given["dtype"] = np.dtype(given["dtype"]).name
    is_plain = all(
        isinstance(value, str | int | float | bool | list | tuple | None)
        for value in given.values()
    )
    if name not in KNOWN or not type(vectorizer).__module__.startswith("sklearn.") or not is_plain:
        pickled.store(folder / PICKLE, vectorizer)
        return {"class": name, "stored": "joblib"}
    words = getattr(vectorizer, "vocabulary_", None)
    if words:
        write_json(folder / VOCABULARY, sorted(words, key=words.__getitem__))
    if getattr(vectorizer, "use_idf", False):
        np.save(folder / WEIGHTS, vectorizer.idf_, allow_pickle=False)
    return {"class": name, "stored": "parts", "given": given}


def load_vectorizer(folder: Path, about: dict[str, Any], trusted: bool) -> Any:
    """Read a vectorizer that `save_vectorizer` wrote, with the JSON entries that it returned.

    A joblib pickle, which may run code when it is read, raises an `XmlcError` unless ``trusted``.
    """
    if about["stored"] == "joblib":
        return pickled.read(folder / PICKLE, trusted)
    # Files without a checksum are not part of the vectorizer.
    files = listed_in(folder)
    given = about["given"] | {"dtype": np.dtype(about["given"]["dtype"]).type}
    if "ngram_range" in given:
        given["ngram_range"] = tuple(given["ngram_range"])
    if VOCABULARY not in files:
        return make_vectorizer(about["class"], **given)
    # With a given vocabulary, `fit` accepts any text and only marks the vectorizer as fitted.
    words = read_json(folder / VOCABULARY)
    if (
        not isinstance(words, list)
        or not all(isinstance(word, str) for word in words)
        or len({*words}) < len(words)
    ):
        raise Malformed(str(folder / VOCABULARY), "found no list of distinct texts")
    fitting = given | {"vocabulary": words, "input": "content"}
    vectorizer = make_vectorizer(about["class"], **fitting).fit([""])
    vectorizer.vocabulary = given["vocabulary"]
    vectorizer.input = given["input"]
    if WEIGHTS in files:
        weights = load_array(folder / WEIGHTS, mmap=False)
        dtype = weights.dtype if weights.dtype.kind == "f" else np.float64
        check_array(weights, WEIGHTS, dtype, (len(words),))
        check_within(weights, WEIGHTS, *FINITE)
        vectorizer.idf_ = weights
    return vectorizer


def transformed(vectorizer: Any, texts: list[str], learning: bool = False) -> Any:
    """Return features of texts, after ``learning`` a vocabulary from them."""
    try:
        if learning:
            return vectorizer.fit_transform(texts)
        return vectorizer.transform(texts)
    except FileNotFoundError as error:
        raise MissingFileError(
            f"{error.filename}: found no such file, expected one file per text"
        ) from error
    except ValueError as error:  # for example, if no text has a word
        said = "Change the texts or the analyzer, such as --analyzer char or analyzer='char'."
        raise InvalidDataError(f"{type(vectorizer).__name__} failed ({error}). {said}") from error
