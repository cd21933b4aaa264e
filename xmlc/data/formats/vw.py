"""Reading of Vowpal Wabbit's text format, as its few-shot datasets come (ALOI, WikiPara)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from scipy import sparse

from xmlc.data.formats.errors import MalformedLines
from xmlc.data.formats.stream import text_lines


def read_vw(
    path: Path,
    zero_based: bool = False,
    vocabulary: dict[str, int] | None = None,
    n_features: int | None = None,
    n_labels: int | None = None,
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read lines ``label[,label] [importance] ['tag]|namespace feature[:value] ...``; see `load`.

    A feature is known by its namespace and name and gets the next free number of ``vocabulary``; without a value it
    counts 1, and given twice its values add up, as in the program.
    """
    vocabulary = {} if vocabulary is None else vocabulary
    malformed = MalformedLines(path)
    base = 0 if zero_based else 1
    ids: list[int] = []
    values: list[float] = []
    indptr, labels, label_indptr = [0], [], [0]
    for number, line in text_lines(path):
        if not line.strip():
            continue
        head, bar, rest = line.partition("|")
        if not bar:
            malformed.add(number, line, "label | feature:value ...")
            continue
        try:
            labels += _labels(head, base, n_labels)
        except ValueError:
            malformed.add(number, head.strip(), f"labels as whole numbers from {base} on, separated by commas")
        for token, name, text in _features(rest):
            try:
                value = float(text)
            except ValueError:
                value = math.nan
            if not math.isfinite(value):
                malformed.add(number, token, "feature:value with a finite decimal number")
            ids.append(vocabulary.setdefault(name, len(vocabulary)))
            values.append(value)
        indptr.append(len(ids))
        label_indptr.append(len(labels))
    malformed.raise_any()
    d = max(n_features or 0, len(vocabulary))
    m = n_labels or (max(labels) + 1 if labels else 0)
    n = len(indptr) - 1
    X = sparse.csr_array((np.array(values, dtype=np.float32), np.array(ids, dtype=np.int32), indptr), shape=(n, d))
    carried = np.ones(len(labels), dtype=bool)
    Y = sparse.csr_array((carried, np.array(labels, dtype=np.int32), label_indptr), shape=(n, m))
    for matrix in (X, Y):
        matrix.sum_duplicates()
    X.eliminate_zeros()
    return X, Y


def _labels(head: str, base: int, n_labels: int | None) -> list[int]:
    """Return the labels before the bar, leaving out importance and tag."""
    tokens = head.split()
    if head[:1].isspace() or not tokens or tokens[0].startswith("'"):
        return []
    found = [int(label) - base for label in tokens[0].split(",")]
    if min(found) < 0 or (n_labels is not None and max(found) >= n_labels):
        raise ValueError
    return found


def _features(rest: str) -> list[tuple[str, str, str]]:
    """Return (token, name with namespace, value) of every feature behind the first bar."""
    found = []
    for section in rest.split("|"):
        tokens = section.split()
        namespace = ""
        if tokens and not section[0].isspace():
            namespace = tokens.pop(0).partition(":")[0]
        for token in tokens:
            name, colon, value = token.partition(":")
            found.append((token, f"{namespace}|{name}", value if colon else "1"))
    return found
