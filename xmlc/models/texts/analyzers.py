"""The features of the default vectorizers: words, or also characters of scripts without blanks."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

# Unicode blocks of scripts without blanks between words. Korean has blanks, so Hangul is missing.
SCRIPTS = {
    "Thai": [(0x0E00, 0x0E7F)],
    "Lao": [(0x0E80, 0x0EFF)],
    "Tibetan": [(0x0F00, 0x0FFF)],
    "Myanmar": [(0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F)],
    "Khmer": [(0x1780, 0x17FF)],
    "Hiragana and Katakana": [
        (0x3041, 0x30FF),
        (0x31F0, 0x31FF),
        (0xFF66, 0xFF9F),
        (0x1AFF0, 0x1B16F),
    ],
    "Bopomofo": [(0x3100, 0x312F), (0x31A0, 0x31BF)],
    "Han": [
        (0x3005, 0x3007),
        (0x3400, 0x4DBF),
        (0x4E00, 0x9FFF),
        (0xF900, 0xFAFF),
        (0x20000, 0x323AF),
    ],
}
_RANGES = "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in chain(*SCRIPTS.values()))
WITHOUT_BLANKS = re.compile(f"[{_RANGES}]")
# Characters of these scripts, and words of at least two characters of other scripts, as by default
# in scikit-learn. A plain value needs no pickle of the vectorizer.
TOKENS = rf"[{_RANGES}]|[^\W{_RANGES}]{{2,}}"
SHARE = 0.01  # A quoted name in another script must not change the features of a corpus.
SOME = 30  # texts, or there is no warning that they have no feature in common


def settings_for(texts: Iterable[str]) -> dict[str, Any]:
    """Return the settings of a scikit-learn vectorizer that suit the scripts of texts.

    If at least one of 100 characters belongs to a script without blanks, the features are words,
    characters of these scripts, and pairs of neighbours. Otherwise, nothing is set.
    """
    total = found = 0
    for text in texts:
        total += len(text)
        if not text.isascii():
            found += len(WITHOUT_BLANKS.findall(text))
    if found > 0 and found >= SHARE * total:
        return {"token_pattern": TOKENS, "ngram_range": (1, 2)}
    return {}


def with_characters(vectorizer: Any) -> bool:
    """Return whether a vectorizer has the tokens of `settings_for` for scripts without blanks."""
    return (
        getattr(vectorizer, "analyzer", None) == "word"
        and getattr(vectorizer, "token_pattern", None) == TOKENS
    )


def warn_if_unshared(X: Any) -> None:
    """Warn if most of the training texts, the rows of ``X``, share no feature with another text."""
    if not hasattr(X, "nonzero") or X.shape[0] < SOME:
        return
    n = X.shape[0]
    rows, columns = X.nonzero()
    n_texts = np.bincount(columns, minlength=X.shape[1])
    alone = n - np.unique(rows[n_texts[columns] > 1]).size
    if 2 * alone > n:
        said = (
            f"found {alone} of {n} training texts without a feature in common with another text, "
            "expected few"
        )
        remedy = (
            "Use TfidfVectorizer(analyzer='char', ngram_range=(1, 2)), or --analyzer char of xmlc "
            "fit."
        )
        warnings.warn(f"texts: {said}. {remedy}", stacklevel=3)


def n_unknown(X: Any) -> int:
    """Return the number of texts, the rows of ``X``, without a feature, if ``X`` is sparse."""
    if getattr(X, "format", "") != "csr":
        return 0
    return X.shape[0] - int(np.count_nonzero(np.diff(X.indptr)))


def warn_if_unknown(place: str, unknown: int, n: int) -> None:
    """Warn if most of n texts to predict, ``unknown`` of them, have no feature of the model."""
    if 2 * unknown > n:
        found = f"found {unknown} of {n} texts without a word or character of the training texts"
        remedy = "Check whether the model was trained on such texts."
        warnings.warn(f"{place}: {found}, expected few. {remedy}", stacklevel=4)
