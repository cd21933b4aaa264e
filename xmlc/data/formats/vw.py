"""Vowpal Wabbit's text format, which the few-shot datasets ALOI and WikiPara of its demo have."""

from __future__ import annotations

import re
from array import array
from pathlib import Path

import numpy as np

from xmlc.core.errors import XmlcError
from xmlc.data.formats.lines import (
    BLANKS,
    DECIMAL,
    LARGEST,
    LineError,
    MalformedLines,
    decimal,
    quoted,
    text_lines,
)
from xmlc.kernels.csr import CSR, stack_estimates

ID = re.compile("0|[1-9][0-9]{0,9}")
# The text before the first bar of a line, with the labels as first group. A tag either begins with
# ', or follows the labels without a space before the bar.
HEAD = re.compile(
    rf"(?:(\d{{1,18}}(?:,\d{{1,18}})*)(?:[ \t]+{DECIMAL.pattern}){{0,2}}[ \t]+([^ \t:']+)?|[ \t]*)"
    r"('[^ \t]*[ \t]*)?",
    re.ASCII,
)
BLANK = "an instance. Start the line of an instance without labels with |."


def read_vw(
    path: Path, zero_based: bool, vocabulary: dict[str, int] | None, n_labels: int | None
) -> tuple[CSR, CSR]:
    """Read lines ``label[,label] [importance] ['tag]|namespace[:scale] feature[:value] ...``.

    A feature, identified by its namespace and name, gets the next free number of ``vocabulary``,
    without which its name must be its number. As in Vowpal Wabbit, the default value is 1, and a
    namespace's scale multiplies its values. Values of a repeated feature are added, because texts
    repeat words. The importance and the tag of a line must be valid, but are ignored.

    Raises
    ------
    XmlcError
        If some lines are malformed, or a name without ``vocabulary`` is not a valid number.
    """
    known: dict[str, int] = {}
    if vocabulary is not None:
        known = vocabulary
    malformed = MalformedLines(path)
    base = int(not zero_based)
    limit = LARGEST
    if n_labels is not None:
        limit = base + n_labels
    ids = array("i")
    values = array("f")
    labels = array("i")
    counts = array("q")
    label_counts = array("q")
    blank = 0  # Number of the first blank line after the last row
    for number, line in text_lines(path):
        if not line.strip(BLANKS):
            blank = blank or number
            continue
        if blank:
            malformed.add(blank, "a blank line", BLANK)
            blank = 0
        try:
            row_labels, pairs = _row(line, base, limit)
        except LineError as error:
            malformed.add(number, error.found, error.expected)
            continue
        if malformed.count == 0:
            for key in pairs:
                if key not in known:
                    known[key] = len(known)
                    if vocabulary is None:
                        known[key] = _number(f"{path}:{number}", key, known)
            ids.extend(map(known.__getitem__, pairs))
            values.extend(pairs.values())
            labels.extend(label - base for label in row_labels)
            counts.append(len(pairs))
            label_counts.append(len(row_labels))
    malformed.raise_any()
    if n_labels is None:
        n_labels = max(labels, default=-1) + 1
    n_features = max(known.values(), default=-1) + 1
    X = stack_estimates(np.array(counts), np.array(ids), np.array(values), n_features)
    X.eliminate_zeros()
    return X, stack_estimates(
        np.array(label_counts), np.array(labels), np.ones(len(labels), dtype=bool), n_labels
    )


class NoIds(XmlcError):
    """The error for a feature whose name is not a valid number."""


def _number(place: str, key: str, known: dict[str, int]) -> int:
    """Convert a feature name to an integer, if its namespace is that of the first feature."""
    space, _, name = key.partition("|")
    if (
        not ID.fullmatch(name)
        or int(name) >= LARGEST
        or not next(iter(known), key).startswith(f"{space}|")
    ):
        expected = (
            "numbers below 2^31 in one namespace. For names, pass vocabulary=, one dictionary for "
            "all files."
        )
        raise NoIds(f"{place}: found feature {quoted(key)}, expected {expected}")
    return int(name)


def looks_like_vw(line: str) -> bool:
    """Return whether a line is valid in Vowpal Wabbit's format."""
    try:
        _row(line, 0, LARGEST)
    except LineError:
        return False
    return True


def _row(line: str, base: int, limit: int) -> tuple[set[int], dict[str, float]]:
    """Return the labels of a line and the values of its features, and ignore all else."""
    head, bar, rest = line.partition("|")
    if not bar:
        raise LineError(quoted(line), "label | feature:value ..., with a bar before the features")
    pairs: dict[str, float] = {}
    for section in rest.split("|"):
        # Only spaces and tabs separate tokens, because names may contain other spaces of Unicode
        tokens = [token for token in section.replace("\t", " ").split(" ") if token]
        namespace = ""
        scale = 1.0
        if tokens and section[0] not in " \t":
            namespace, scale = _weighted(tokens.pop(0))
        for token in tokens:
            name, value = _weighted(token)
            key = f"{namespace}|{name}"
            pairs[key] = pairs.get(key, 0.0) + scale * value
            # The sum or product of finite values can be infinite in single precision
            decimal(repr(pairs[key]))
    match = HEAD.fullmatch(head)
    if match is None:
        expected = (
            "label[,label] [importance [initial]] ['tag] at the start of the line, and a space "
            "before the bar"
        )
        raise LineError(quoted(head + "|"), expected)
    labels: set[int] = set()
    if match[1]:
        labels.update(map(int, match[1].split(",")))
        if min(labels) < base or max(labels) >= limit:
            raise LineError(quoted(match[1]), f"labels from {base} to {limit - 1}")
    return labels, pairs


def _weighted(token: str) -> tuple[str, float]:
    """Split ``name:number``, where a missing number is 1."""
    name, colon, number = token.partition(":")
    value = 1.0
    try:
        if colon:
            value = decimal(number)
    except LineError as error:
        raise LineError(quoted(token), f"{error.expected} after the colon") from None
    if not name:
        raise LineError(quoted(token), "a name before the colon")
    return name, value
