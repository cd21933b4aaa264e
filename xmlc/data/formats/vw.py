"""Reading of Vowpal Wabbit's text format, as its few-shot datasets come (ALOI, WikiPara)."""

from __future__ import annotations

import re
from array import array
from itertools import islice
from pathlib import Path

import numpy as np
from scipy import sparse

from xmlc.core.errors import XmlcError
from xmlc.data.formats.lines import LARGEST, LineError, MalformedLines, decimal, most_columns, quoted, text_lines, whole

ID = re.compile("0|[1-9][0-9]*")  # of a feature, as its name
BLANK = "an instance; it would shift the rows (one without labels starts with |)"


def read_vw(
    path: Path,
    zero_based: bool = False,
    vocabulary: dict[str, int] | None = None,
    n_features: int | None = None,
    n_labels: int | None = None,
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Read lines ``label[,label] [importance] ['tag]|namespace[:scale] feature[:value] ...``; see `load`.

    A feature is known by its namespace and name and gets the next free number of ``vocabulary``; without one its name
    is its number. As in the program, a feature without a value counts 1, a namespace's scale multiplies its values, and
    a feature given twice, as words of a text are, adds up. Importance and tag are checked and left out.

    Raises
    ------
    XmlcError
        Malformed lines; names that are no numbers, or too large ones, without a ``vocabulary``.
    """
    known = {} if vocabulary is None else vocabulary
    malformed = MalformedLines(path)
    base = 0 if zero_based else 1
    limit = base + (most_columns(path) if n_labels is None else n_labels)
    ids, values, labels = array("i"), array("f"), array("i")
    indptr, label_indptr = array("q", [0]), array("q", [0])
    blank = 0  # number of the first of the blank lines that end the file so far
    for number, line in text_lines(path):
        if not line.strip():
            blank = blank or number
            continue
        if blank:
            malformed.add(blank, "a blank line", BLANK)
            blank = 0
        try:
            found, pairs = _row(line, base, limit)
        except LineError as error:
            malformed.add(number, error.found, error.expected)
            continue
        if malformed.count == 0:
            ids.extend(known.setdefault(name, len(known)) for name in pairs)
            values.extend(pairs.values())
            labels.extend(sorted({label - base for label in found}))
        indptr.append(len(ids))
        label_indptr.append(len(labels))
    malformed.raise_any()
    n_labels = max(labels, default=-1) + 1 if n_labels is None else n_labels
    X = _matrix(np.array(values, dtype=np.float32), ids, indptr, len(known))
    X.eliminate_zeros()
    if vocabulary is None:
        X = by_ids(path, X, known, n_features)
    return X, _matrix(np.ones(len(labels), dtype=bool), labels, label_indptr, n_labels)


class NoIds(XmlcError):
    """Names of features that tell no number."""


def by_ids(
    path: Path, X: sparse.csr_array, vocabulary: dict[str, int], n_features: int | None = None
) -> sparse.csr_array:
    """Return features in the columns that their names give, where all names are whole numbers in one namespace.

    Parameters
    ----------
    path : Path
        The file, whose size tells which numbers are believed.
    X : csr_array
        Features by the numbers of ``vocabulary``; what is returned shares memory with it.
    vocabulary : dict
        Names as `read_vw` writes them, those of later files behind.
    n_features : int, optional
        How many are believed in any case.

    Raises
    ------
    NoIds
        There are other names, two namespaces, or a number that is too large.
    """
    keys = [key.partition("|") for key in islice(vocabulary, X.shape[1])]
    namespaces, names = {key[0] for key in keys}, [key[2] for key in keys]
    other = next((name for name in names if not ID.fullmatch(name)), None)
    if other is not None or len(namespaces) > 1:
        found = f"a feature named {quoted(other)}" if other is not None else f"{len(namespaces)} namespaces"
        raise NoIds(
            f"{path}: found {found}, expected whole numbers in one namespace, which are the features' numbers; number "
            "other names by vocabulary=, with the same dictionary for training and test file"
        )
    limit = max(most_columns(path), n_features or 0)
    if (largest := max(map(int, names), default=-1)) >= limit:
        raise NoIds(f"{path}: found feature {largest}, expected numbers of 0 .. {limit - 1}")
    ids = np.array(names, dtype=np.int32)
    numbered = sparse.csr_array((X.data, ids[X.indices], X.indptr), shape=(X.shape[0], largest + 1))
    numbered.sort_indices()
    return numbered


def looks_like_vw(line: str) -> bool:
    """Tell whether a line could stand in a file of this format."""
    try:
        _row(line, 0, LARGEST)
    except LineError:
        return False
    return True


def _row(line: str, base: int, limit: int) -> tuple[list[int], dict[str, float]]:
    """Return a line's labels and the values of its features."""
    head, bar, rest = line.partition("|")
    if not bar:
        raise LineError(quoted(line), "label | feature:value ...; a bar begins the features")
    pairs: dict[str, float] = {}
    for section in rest.split("|"):
        tokens = _tokens(section)
        namespace, scale = "", 1.0
        if tokens and section[0] not in " \t":
            namespace, scale = _weighted(tokens.pop(0))
        for token in tokens:
            name, value = _weighted(token)
            key = f"{namespace}|{name}"
            pairs[key] = pairs.get(key, 0.0) + scale * value
            decimal(repr(pairs[key]))  # a sum or product may leave single precision though its parts fit
    return _labels(head, base, limit), pairs


def _tokens(text: str) -> list[str]:
    # Only these two separate; what else Unicode calls a space may be part of a name.
    return [token for token in text.replace("\t", " ").split(" ") if token]


def _weighted(token: str) -> tuple[str, float]:
    """Cut ``name:number``; without a number it counts 1."""
    name, colon, number = token.partition(":")
    try:
        value = decimal(number) if colon else 1.0
    except LineError as error:
        raise LineError(quoted(token), f"{error.expected} behind the colon") from None
    if not name:
        raise LineError(quoted(token), "a name before the colon")
    return name, value


def _labels(head: str, base: int, limit: int) -> list[int]:
    """Return the labels before the bar, leaving out importance, initial prediction and tag."""
    tokens = _tokens(head)
    touches = bool(tokens) and head[-1] not in " \t"
    if touches and len(tokens) == 1 and not tokens[0].startswith("'"):
        raise LineError(quoted(head + "|"), "a space before the bar; what touches it is a tag to Vowpal Wabbit")
    if touches or (tokens and tokens[-1].startswith("'")):
        tag = tokens.pop()
        if ":" in tag and not tag.startswith("'"):  # more likely feature:value of a line that a bar got into
            raise LineError(quoted(tag + "|"), "a tag without a colon, or one that begins with '")
    if not tokens:
        return []
    if head[0] in " \t" or len(tokens) > 3:
        raise LineError(quoted(head), "label[,label] [importance [initial]] ['tag] from the beginning of the line")
    for number in tokens[1:]:
        decimal(number)
    try:
        labels = [whole(label) for label in tokens[0].split(",")]
    except LineError:
        labels = [-1]
    if min(labels) < base or max(labels) >= limit:
        raise LineError(quoted(tokens[0]), f"labels as whole numbers of {base} .. {limit - 1}, separated by commas")
    return labels


def _matrix(data: np.ndarray, ids: array[int], indptr: array[int], n_columns: int) -> sparse.csr_array:
    parts = (data, np.array(ids, dtype=np.int32), np.array(indptr, dtype=np.int64))
    matrix = sparse.csr_array(parts, shape=(len(indptr) - 1, n_columns))
    matrix.sort_indices()
    return matrix
