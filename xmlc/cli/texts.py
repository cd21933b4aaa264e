"""`xmlc fit`, `predict` and `evaluate`: models of files of one's own, without the workflow."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

import click
import numpy as np

from xmlc.cli._options import FOLDER, SEED, out_option, parse_parameters, threads_option
from xmlc.core.errors import XmlcError, nearest
from xmlc.core.files import folder_bytes
from xmlc.data.formats import FORMATS, detect_format, load
from xmlc.data.formats.lines import first_line, text_lines
from xmlc.data.formats.npz import load_npz
from xmlc.data.formats.texts import FASTTEXT, READERS, STDIN, Columns, Document, documents, format_of
from xmlc.kernels.csr import top_k_of
from xmlc.metrics.classification import classification_metrics
from xmlc.metrics.ranking import ndcg_at_k, precision_at_k, recall_at_k
from xmlc.models.abilities import looks_up
from xmlc.models.plt.estimator import RANKING
from xmlc.models.registry import ESTIMATORS, load_model, make_estimator
from xmlc.models.texts.text_classifier import DESCRIPTION, TextClassifier, indicator

BATCH = 1000  # texts that are read, and predicted or learned, at a time
AT = (1, 3, 5)
PRESET = "plt-ranking"  # `PLT.for_ranking`
SETS = {"macro_f_present": "macro-F, labels present", "micro_f": "micro-F", "instance_f": "instance-F"}
INPUT = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


def not_empty(_: click.Context, option: click.Parameter, value: str | None) -> str | None:
    r"""Refuse an empty text, and read ``\t`` and ``\n`` as a tab and a newline, which are hard to type in a shell."""
    if value == "":
        raise click.BadParameter("found an empty text, expected at least one letter", param=option)
    return {r"\t": "\t", r"\n": "\n"}.get(value or "", value)


def columns_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of how a file of texts is read."""
    usual = Columns()
    for option in (
        click.option(
            "--separator",
            callback=not_empty,
            help="Separator between two labels of a cell.  [default: ; or blanks between URIs]",
        ),
        click.option(
            "--delimiter",
            callback=not_empty,
            help="Delimiter between two columns of CSV and TSV.  [default: as in the header of CSV, a tab in TSV]",
        ),
        click.option(
            "--labels",
            default=usual.labels,
            show_default=True,
            help="Column or key of the labels; of features, the second file that has them, if there is one.",
        ),
        click.option("--text", default=usual.text, show_default=True, help="Column or key of the text."),
        click.option(
            "--format",
            type=click.Choice([*READERS, *FORMATS]),
            default=None,
            help="Format; by default by suffix (.csv, .tsv, .jsonl, .ndjson, .json, or .txt of fastText) or by content",
        ),
    ):
        command = option(command)
    return command


@click.command(
    help="Train a classifier on FILE: texts with the names of their labels as CSV, TSV, JSON lines or fastText's, "
    "or features in a format that `xmlc.data.load` reads from one file."
)
@click.argument("file", type=INPUT)
@click.option(
    "--estimator",
    default=None,
    help="plt, plt-ranking (the preset for rankings), parabel, swnn, oplt, fastxml, ldsm, br, pcc, or another class: "
    "module:Class, path/to/file.py:Class.  [default: plt, or oplt with --stream]",
)
@click.option("--parameters", default="{}", help="Hyperparameters as a JSON object.")
@click.option("--stream", is_flag=True, help="Learn part by part, with hashed words.")
@columns_options
@click.option("--seed", type=SEED, default=0, show_default=True)
@threads_option
@out_option("Folder for the model.")
def fit_command(
    file: Path, estimator: str | None, parameters: str, stream: bool, seed: int, threads: int, out: Path, **given: Any
) -> None:
    """Train, save, and say what was read."""
    estimator = estimator or ("oplt" if stream else "plt")
    name, values = estimator if ":" in estimator else estimator.lower(), parse_parameters(parameters)
    if ":" not in name and name not in (known := [*ESTIMATORS, PRESET]):
        said = f"expected {nearest(name, known)}, module:Class or path/to/file.py:Class"
        raise XmlcError(f"--estimator {estimator}: found no estimator of this name, {said}")
    if name == PRESET:
        name, values = "plt", RANKING | values
    model: Any = make_estimator(name, values, seed, threads)
    if looks_up(model):
        raise XmlcError(f"--estimator {estimator}: learns nothing; expected one that does, such as plt")
    n = total = 0
    if is_texts(file, given["format"]):
        model = TextClassifier(model)
        for batch in batches(file, given, BATCH if stream else None):
            n, total = n + len(batch), total + sum(len(document.labels) for document in batch)
            texts, label_lists = zip(*batch, strict=True)
            if stream or total:
                (model.partial_fit if stream else model.fit)(texts, label_lists)
        if n == 0:
            raise XmlcError(f"{file}: found no texts, expected at least one; look at how it was written")
        if total == 0:
            found = f"{n} texts and no label"
            raise XmlcError(f"{file}: found {found}, expected labels as {given['labels']!r} (--labels says where)")
        model.save(out)
    else:
        X, Y = features_and_labels(file, given)
        model.fit_to(out, X, Y)
        n, total = X.shape[0], Y.nnz
    found = f"{n} instances, {model.classes_.size} labels, {total / n:.2f} labels an instance"
    click.echo(f"{out}: {found}, {folder_bytes(out) / 1e6:.1f} MB")


@click.command(help="Predict the labels of each instance of FILE, or of standard input (-): a JSON object a line.")
@click.argument("file", type=INPUT)
@click.option("--model", "folder", type=FOLDER, required=True, help="Folder written by `xmlc fit`.")
@click.option("-k", type=click.IntRange(1), default=None, help="Labels of each instance, best first.  [default: 5]")
@click.option("--threshold", type=click.FloatRange(0, 1), default=None,
              help="In place of -k: all labels with a greater estimate, a label set.")  # fmt: skip
@click.option("--trusted", is_flag=True, help="Read what joblib has stored, which runs code of the folder.")
@columns_options
@threads_option
def predict_command(
    file: Path, folder: Path, k: int | None, threshold: float | None, trusted: bool, threads: int, **given: Any
) -> None:
    """Write the labels and their estimates."""
    if k and threshold is not None:
        raise XmlcError("found -k and --threshold, expected one of them")
    model: Any
    if not (folder / DESCRIPTION).exists():
        model = load_model(folder, trusted)
        parts: Iterator[Any] = iter([features(file, given, model)])
    else:
        model = TextClassifier.load(folder, trusted)
        parts = ([document.text for document in batch] for batch in batches(file, given, BATCH, labelled=False))
    for part in parts:
        for pairs in ranked(model, part, k or 5, threshold):
            click.echo(json.dumps({"labels": pairs}, ensure_ascii=False))


@click.command(
    help="Score PREDICTIONS, lines of `xmlc predict`, by the labels in FILE: the ranking, and the lists as label sets."
)
@click.argument("predictions", type=INPUT)
@click.argument("file", type=INPUT)
@columns_options
def evaluate_command(predictions: Path, file: Path, **given: Any) -> None:
    """Print precision, nDCG and recall at k, and F-measures."""
    found = predicted(predictions)
    if is_texts(file, given["format"]):
        truths: list[list[Any]] = [document.labels for batch in batches(file, given, BATCH) for document in batch]
    else:
        Y = features_and_labels(file, given)[1]
        truths = [Y.indices[start:end].tolist() for start, end in pairwise(Y.indptr)]
    if len(found) != len(truths):
        raise XmlcError(
            f"{predictions}: found {len(found)} predictions, expected {len(truths)}, as {file} has instances"
        )
    if not any(truths):
        raise XmlcError(f"{file}: found no label, expected labels as {given['labels']!r} (--labels says where)")
    if any(found) and {*chain(*found)}.isdisjoint(chain(*truths)):
        labels_of = [next(chain(*lists)) for lists in (found, truths)]
        said = "found no label of {}, such as {!r}, but {!r}; expected the same names".format(file, *labels_of[::-1])
        warnings.warn(f"{predictions}: {said}", stacklevel=1)
    column = {name: j for j, name in enumerate(dict.fromkeys(name for names in [*truths, *found] for name in names))}
    Y, width = indicator(truths, column), max(map(len, found), default=0)
    labels = np.full((len(found), max(width, 1)), -1, dtype=np.int32)
    for row, names in zip(labels, found, strict=True):
        row[: len(names)] = [column[name] for name in names]
    measures = {"P": precision_at_k, "nDCG": ndcg_at_k, "R": recall_at_k}
    rows: list[tuple[str, float]] = [
        (f"{name}@{k}", of(Y, labels, k)) for name, of in measures.items() for k in AT if k <= width
    ]
    scores = classification_metrics(Y, indicator(found, column))
    rows += [(title, scores[name]) for name, title in SETS.items()]
    cells = [(title, f"{100 * value:.2f}") for title, value in rows]
    left, right = (max(map(len, column)) for column in zip(*cells, strict=True))
    rule = f"{'-' * left}  {'-' * right}"
    click.echo("\n".join([rule, *(f"{title:{left}}  {value}" for title, value in cells), rule]))


def is_texts(file: Path, format: str | None) -> bool:
    """Say whether a file has texts, by the format given or by its suffix.

    Files of features may end in ``.txt`` too: one of fastText has a label in its first line.
    """
    found = format or format_of(file)
    if file == STDIN and not found:
        return True  # so that `documents` raises an error that asks for the format
    return found in READERS and (format is not None or found != "fasttext" or FASTTEXT in first_line(file))


def features_and_labels(file: Path, given: dict[str, Any], n_features: int | None = None) -> tuple[Any, Any]:
    """Read a file of features, or two."""
    second = None if given["labels"] == Columns().labels else given["labels"]
    try:
        return load(file, given["format"], labels=second, n_features=n_features)
    except XmlcError as error:
        if given["format"] is None and "format=" in str(error):
            raise XmlcError(f"{error}; or of texts: {', '.join(READERS)} (--format)") from None
        raise


def features(file: Path, given: dict[str, Any], model: Any) -> Any:
    """Read the features that a model predicts from; a file of matrices needs no other with labels."""
    if (given["format"] or detect_format(file)) == "npz":
        return load_npz(file)
    return features_and_labels(file, given, model.n_features_in_)[0]


def predicted(file: Path) -> list[list[Any]]:
    """Read the labels of each line of `xmlc predict`."""
    found = []
    for number, line in enumerate(sys.stdin.buffer, start=1) if file == STDIN else text_lines(file):
        try:
            pairs = json.loads(line)["labels"]
            names, estimates = [name for name, _ in pairs], [estimate for _, estimate in pairs]
            if not all(isinstance(pair, list) and isinstance(pair[0], str | int) for pair in pairs):
                raise TypeError  # a string of two letters is not a pair
            if not all(first >= second for first, second in pairwise([math.inf, *estimates])):
                raise ValueError  # or NaN
        except (ValueError, KeyError, TypeError, RecursionError):
            expected = '{"labels": [["name", 0.5], ...]}, best first, as `xmlc predict` writes it'
            raise XmlcError(f"{file}:{number}: found {line[:60]!r}, expected {expected}") from None
        if len({*names}) < len(names):
            raise XmlcError(f"{file}:{number}: found a label twice, expected different ones")
        found.append(names)
    return found


def batches(file: Path, given: dict[str, Any], size: int | None, labelled: bool = True) -> Iterator[list[Document]]:
    """Give the documents of a file in lists of a size; in one list if that is None."""
    columns = Columns(given["text"], given["labels"], given["separator"], given["delimiter"])
    found = documents(file, given["format"], columns, labelled)
    while batch := list(islice(found, size)):
        yield batch


def ranked(model: Any, part: Any, k: int, threshold: float | None) -> Iterator[list[tuple[Any, float]]]:
    """Give for each instance the pairs of label and estimate, best first: k of them, or all above a threshold."""
    if threshold is None:
        labels, scores = model.predict_top_k(part, min(k, model.classes_.size))
    else:
        spe = model.predict_proba(part, threshold)
        labels, scores = top_k_of(spe, max(1, int(np.diff(spe.indptr).max(initial=0))))
    names = model.classes_.tolist()
    for row, estimates in zip(labels.tolist(), scores.tolist(), strict=True):
        yield [(names[j], round(score, 6)) for j, score in zip(row, estimates, strict=True) if j >= 0]
