"""The commands `xmlc fit`, `predict` and `evaluate` for users' files, without the workflow."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, pairwise, repeat
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource
from scipy import sparse

from xmlc.cli._predictions import Prediction, read_predictions, write_predictions
from xmlc.cli.options import FOLDER, SEED, out_option, parse_parameters, threads_option
from xmlc.core.errors import XmlcError, nearest
from xmlc.core.files import folder_bytes
from xmlc.data.formats import FORMATS, detect_format, is_header, load
from xmlc.data.formats.lines import first_line
from xmlc.data.formats.npz import load_npz
from xmlc.data.formats.texts import (
    FASTTEXT,
    READERS,
    STDIN,
    USUAL,
    WITH_CELLS,
    Columns,
    Document,
    documents,
    format_of,
)
from xmlc.kernels.csr import top_k_of
from xmlc.kernels.estimator import Hyperparameters
from xmlc.metrics.classification import classification_metrics
from xmlc.metrics.ranking import ndcg_at_k, precision_at_k, recall_at_k
from xmlc.models.abilities import looks_up
from xmlc.models.base import SparseProbabilityEstimator
from xmlc.models.label_sets import INSTANCE_F, MEASURE, estimates_of_sets
from xmlc.models.registry import (
    DEFAULT,
    STREAMING,
    TRAINABLE,
    load_model,
    make_estimator,
)
from xmlc.models.texts.analyzers import (
    n_unknown,
    settings_for,
    warn_if_unknown,
    with_characters,
)
from xmlc.models.texts.inputs import indicator
from xmlc.models.texts.text_classifier import DESCRIPTION, TextClassifier, named_labels
from xmlc.models.texts.vectorizers import default_vectorizer, transformed
from xmlc.thresholds.label_sets import SetMeasure

BATCH = 1000  # texts that the commands predict or learn at a time
AT = (1, 3, 5)
RANKED = 5  # least number of labels in a ranking, which is as long as a larger label set
DIGITS = 6  # digits of a printed estimate
SETS = {
    "macro_f_present": "macro-F, labels present",
    "micro_f": "micro-F",
    "instance_f": "instance-F",
}
OWN_CLASS = "Your own class: module:Class or path/to/file.py:Class."
ESTIMATORS_HELP = f"Estimators: {', '.join(TRAINABLE)} (a preset for rankings). {OWN_CLASS}"
FORMATS_HELP = f"Formats of texts: {', '.join(READERS)}. Formats of features: {', '.join(FORMATS)}."
# Options that files of features do not have
OF_TEXTS = ("text", "separator", "delimiter", "keep", "analyzer", "ngrams", "measure")
INPUT = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


def not_empty(_: click.Context, option: click.Parameter, value: str | None) -> str | None:
    r"""Raise an error for an empty value, and replace ``\t`` and ``\n``, which are hard to type."""
    if value == "":
        raise click.BadParameter("found '', expected at least one character", param=option)
    return {r"\t": "\t", r"\n": "\n"}.get(value or "", value)


def parse_ngrams(text: str | None) -> tuple[int, int] | None:
    """Read the value of --ngrams: two numbers, or one for n-grams of one length."""
    if text is None:
        return None
    match = re.fullmatch(r"([0-9]+)(?:,([0-9]+))?", text)
    if match:
        low = int(match[1])
        high = int(match[2] or low)
        if 1 <= low <= high:
            return low, high
    expected = "LOW,HIGH with 1 <= LOW <= HIGH, such as 1,2"
    raise click.BadParameter(f"found {text!r}, expected {expected}")


def vectorizer_for(
    texts: Sequence[str],
    analyzer: str | None,
    ngrams: tuple[int, int] | None,
    stream: bool,
) -> Any:
    """Return the vectorizer for --analyzer and --ngrams, or by the texts."""
    if analyzer is None:
        settings = settings_for(texts)
    elif analyzer == "word":
        settings = {"analyzer": analyzer, "ngram_range": (1, 1)}
    else:
        settings = {"analyzer": analyzer, "ngram_range": (1, 2)}
    if ngrams:
        settings["ngram_range"] = ngrams
    return default_vectorizer(settings, stream)


def columns_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add options for reading a file of texts."""
    for option in (
        click.option(
            "--separator",
            callback=not_empty,
            help="Separator of labels.  [default: ;, or JSON in a cell]",
        ),
        click.option(
            "--delimiter",
            callback=not_empty,
            help="Delimiter of columns.  [default: from the header of CSV, a tab in TSV]",
        ),
        click.option(
            "--labels",
            default=USUAL.labels,
            show_default=True,
            help="Column or key of the labels, or a second file with the labels.",
        ),
        click.option(
            "--text",
            default=USUAL.text,
            show_default=True,
            help="Column or key of the text.",
        ),
        click.option(
            "--format",
            type=click.Choice([*READERS, *FORMATS]),
            metavar="NAME",
            help="Format of FILE, see below.  [default: from the suffix or content of FILE]",
        ),
    ):
        command = option(command)
    return command


@click.command(
    help="Train a classifier on the labelled texts or features in FILE.",
    epilog=f"{ESTIMATORS_HELP}\n\n{FORMATS_HELP}",
)
@click.argument("file", type=INPUT)
@click.option(
    "--estimator",
    metavar="NAME",
    help=f"Estimator, see below.  [default: {DEFAULT}, or {STREAMING} with --stream]",
)
@click.option(
    "--parameters",
    metavar="JSON",
    default="{}",
    callback=lambda ctx, _, text: parse_parameters(text),
    help="Hyperparameters as a JSON object.",
)
@click.option("--stream", is_flag=True, help="Train on batches of FILE, with hashed words.")
@click.option(
    "--analyzer",
    type=click.Choice(["word", "char", "char_wb"]),
    help="""Unit of the features: words, characters, or characters within words.  [default: words,
    and characters of scripts without blanks]""",
)
@click.option(
    "--ngrams",
    metavar="LOW,HIGH",
    callback=lambda ctx, _, text: parse_ngrams(text),
    help="""Lengths of sequences of words or characters, such as 1,2, or 2 for 2,2.  [default: 1,1
    for words, 1,2 for characters]""",
)
@click.option(
    "--measure",
    type=click.Choice(MEASURE.choices),
    help="F-measure that label sets of texts maximise.  [default: instance_f]",
)
@columns_options
@click.option("--seed", type=SEED, default=0, show_default=True, help="Random seed.")
@threads_option
@out_option("Folder for the model.")
def fit_command(
    file: Path,
    estimator: str | None,
    parameters: Hyperparameters,
    stream: bool,
    analyzer: str | None,
    ngrams: tuple[int, int] | None,
    measure: SetMeasure | None,
    seed: int,
    threads: int,
    out: Path,
    **given: Any,
) -> None:
    """Train and save a model, and print the size of the training data."""
    if not estimator:
        estimator = DEFAULT
        if stream:
            estimator = STREAMING
    check_set_once(parameters, {"random_state": "seed", "n_jobs": "threads"})
    model: Any = make_estimator(estimator, parameters, seed, threads)
    if looks_up(model):
        expected = nearest(estimator, TRAINABLE)
        raise XmlcError(f"--estimator: found {estimator!r}, expected {expected}")
    if stream and not hasattr(model, "partial_fit"):
        expected = f"one that trains on batches, such as {STREAMING}"
        remedy = "Leave out --stream or --estimator."
        raise XmlcError(f"--estimator: found {estimator!r}, expected {expected}. {remedy}")
    if stream and measure not in (None, INSTANCE_F):
        expected = f"{INSTANCE_F}. Leave out --stream or --measure."
        raise XmlcError(f"--measure: found {measure} with --stream, expected {expected}")
    n = 0
    total = 0
    about = ""
    if is_texts(file, given["format"]):
        n_unlabelled = 0
        n_empty = 0
        model = TextClassifier(model, measure=measure or INSTANCE_F)
        for batch in text_batches(file, given, BATCH if stream else None):
            texts, label_lists, _ = zip(*batch, strict=True)
            n += len(batch)
            total += sum(map(len, label_lists))
            n_unlabelled += sum(not labels for labels in label_lists)
            n_empty += sum(not text.strip() for text in texts)
            if model.vectorizer is None and (analyzer or ngrams):
                model.vectorizer = vectorizer_for(texts, analyzer, ngrams, stream)
            if stream:
                model.partial_fit(texts, label_lists)
            elif total:
                model.fit(texts, label_lists)
        if n == 0:
            expected = "at least one. The file may be empty."
            raise XmlcError(f"{file}: found no texts, expected {expected}")
        if total == 0:
            raise _no_label(file, f"{n} texts and no label", given)
        model.save(out)
        if n_unlabelled:
            about += f", {n_unlabelled} without a label"
        if n_empty:
            about += f", {n_empty} with an empty text"
        if with_characters(model.vectorizer_):
            about += ", features: words and characters of scripts without blanks"
    else:
        given |= {"analyzer": analyzer, "ngrams": ngrams, "measure": measure}
        X, Y = features_and_labels(file, given)
        model.fit_to_disk(out, X, Y)
        n = X.shape[0]
        total = Y.nnz
    counts = f"{n} instances, {model.classes_.size} labels, {total / n:.2f} labels per instance"
    click.echo(f"{out}: {counts}, {folder_bytes(out) / 1e6:.1f} MB{about}")


@click.command(
    help="""Predict label rankings and label sets for the instances in FILE. If FILE is -, read
    standard input. By default each label set has the largest expected F-measure.""",
    epilog=FORMATS_HELP,
)
@click.argument("file", type=INPUT)
@click.option("--model", "folder", type=FOLDER, required=True, help="Folder from `xmlc fit`.")
@click.option("-k", type=click.IntRange(1), help="Write the k best labels and no label set.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    help="Predict all labels with a greater probability.",
)
@click.option(
    "--measure",
    type=click.Choice(MEASURE.choices),
    help="""F-measure that label sets maximise. macro_f and micro_f find thresholds from all of
    FILE.  [default: as in `xmlc fit`]""",
)
@click.option(
    "--to",
    type=click.Choice(["jsonl", "csv"]),
    default="jsonl",
    show_default=True,
    help="Output format.",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Column or key of FILE to copy to the output.",
)
@click.option(
    "--trusted",
    is_flag=True,
    help="Load joblib files, which can run code from the folder.",
)
@columns_options
@threads_option
def predict_command(
    file: Path,
    folder: Path,
    k: int | None,
    threshold: float | None,
    measure: SetMeasure | None,
    to: str,
    trusted: bool,
    threads: int,
    **given: Any,
) -> None:
    """Write the rankings and label sets of texts or feature vectors."""
    options = {"-k": k, "--threshold": threshold, "--measure": measure}
    chosen = [name for name, value in options.items() if value is not None]
    if len(chosen) > 1:
        expected = "only one of them. Leave out the others."
        raise XmlcError(f"found {' and '.join(chosen)}, expected {expected}")
    limits: float | np.ndarray | None = threshold
    keep = tuple(dict.fromkeys(given["keep"]))
    given["keep"] = keep
    parts: Iterator[tuple[Any, Any]]
    if (folder / DESCRIPTION).exists():
        texts = TextClassifier.load(folder, trusted)
        estimator = texts.estimator_
        names = texts.classes_.tolist()
        if threshold is None and measure is None:
            limits = texts.own_thresholds()
        parts = features_of_texts(texts, file, given)
    else:
        estimator = load_model(folder, trusted)
        names = estimator.classes_.tolist()
        parts = iter([(features(file, given, estimator), repeat(()))])
    if measure not in (None, INSTANCE_F):
        parts = joined(parts)
    chosen_by = (k, limits, measure or INSTANCE_F)
    rows = (zip(predicted_labels(estimator, names, X, *chosen_by), kept) for X, kept in parts)
    write_predictions(to, keep, chain.from_iterable(rows))


def features_of_texts(
    model: TextClassifier, file: Path, given: dict[str, Any]
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield the features of batches of texts, and the columns to keep."""
    if not given["format"] and format_of(file) == "fasttext" and is_header(first_line(file)):
        expected = "texts, as the model was trained on texts. For texts, set --format fasttext."
        raise XmlcError(f"{file}:1: found the header of a file of features, expected {expected}")
    n = 0
    unknown = 0
    for batch in text_batches(file, given, BATCH, labelled=False):
        texts, _, kept = zip(*batch, strict=True)
        X = transformed(model.vectorizer_, texts)
        n += len(texts)
        unknown += n_unknown(X)
        yield X, kept
    warn_if_unknown(str(file), unknown, n)


def joined(parts: Iterator[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    """Yield all features as one matrix, because thresholds follow from all instances."""
    batches = list(parts)
    if batches:
        features, kept = zip(*batches)
        yield sparse.vstack(features, format="csr"), chain(*kept)


@click.command(
    help="Score PREDICTIONS from `xmlc predict` against the labels in FILE. "
    "If PREDICTIONS contains no label sets, each whole ranking is a label set.",
    epilog=FORMATS_HELP,
)
@click.argument("predictions", type=INPUT)
@click.argument("file", type=INPUT)
@columns_options
def evaluate_command(predictions: Path, file: Path, **given: Any) -> None:
    """Print precision, nDCG and recall at k, and F-measures of predictions."""
    if predictions == file == STDIN:
        expected = "it once. Save the predictions in a file."
        raise XmlcError(
            f"PREDICTIONS and FILE: found standard input (-) for both, expected {expected}"
        )
    rankings = []
    sets = []
    for labels, chosen in read_predictions(predictions):
        rankings.append([name for name, _ in labels])
        sets.append(chosen or [])
    truths: list[list[str]] = []
    if is_texts(file, given["format"]):
        for batch in text_batches(file, given, BATCH):
            truths.extend(document.labels for document in batch)
    else:
        Y = features_and_labels(file, given)[1]
        for start, end in pairwise(Y.indptr):
            truths.append([str(label) for label in Y.indices[start:end].tolist()])
    if len(rankings) != len(truths):
        expected = f"{len(truths)}, as in {file}"
        raise XmlcError(f"{predictions}: found {len(rankings)} predictions, expected {expected}")
    if not any(truths):
        raise _no_label(file, "no label", given)
    if any(rankings) and set(chain(*rankings)).isdisjoint(chain(*truths)):
        true = next(chain(*truths))
        predicted = next(chain(*rankings))
        found = f"no label of {file}, such as {true!r}, but {predicted!r}. Use the same names."
        warnings.warn(f"{predictions}: found {found}", stacklevel=1)
    scores = scores_of(truths, rankings, sets)
    cells = {title: f"{100 * score:.2f}" for title, score in scores.items()}
    left = max(map(len, cells))
    right = max(map(len, cells.values()))
    rule = f"{'-' * left}  {'-' * right}"
    lines = [f"{title:{left}}  {cell}" for title, cell in cells.items()]
    click.echo("\n".join([rule, *lines, rule]))


def scores_of(
    truths: list[list[str]],
    rankings: list[list[str]],
    sets: list[list[str]],
) -> dict[str, float]:
    """Return the measures of rankings and label sets by their titles."""
    names = dict.fromkeys(chain(*truths, *rankings, *sets))
    column = {name: j for j, name in enumerate(names)}
    Y = indicator(truths, column)
    width = max(map(len, rankings), default=0)
    labels = np.full((len(rankings), max(width, 1)), -1, dtype=np.int32)
    for row, ranking in zip(labels, rankings, strict=True):
        row[: len(ranking)] = [column[name] for name in ranking]
    scores = {}
    for title, measure in (("P", precision_at_k), ("nDCG", ndcg_at_k), ("R", recall_at_k)):
        for k in AT:
            if k <= width:
                scores[f"{title}@{k}"] = measure(Y, labels, k)
    of_sets = classification_metrics(Y, indicator(sets, column))
    for name, title in SETS.items():
        scores[title] = of_sets[name]
    return scores


def _no_label(file: Path, found: str, given: dict[str, Any]) -> XmlcError:
    expected = "at least one. Set --format if FILE has another format."
    if (given["format"] or format_of(file)) in WITH_CELLS:
        expected = f"labels in {given['labels']!r}. Set --labels to their column."
    return XmlcError(f"{file}: found {found}, expected {expected}")


def is_texts(file: Path, format: str | None) -> bool:
    """Return whether a file contains texts rather than features, by its format or else its suffix.

    A ``.txt`` file may contain either, and is a file of texts if fastText's ``__label__`` is in its
    first line.
    """
    if format is not None:
        return format in READERS
    if file == STDIN:
        return True  # without a format, `documents` raises an error that asks for it
    implied = format_of(file)
    if implied == "fasttext":
        return FASTTEXT in first_line(file)
    return implied in READERS


def check_set_once(parameters: Hyperparameters, options: dict[str, str]) -> None:
    """Raise an error if a hyperparameter contradicts the given option that also sets it."""
    context = click.get_current_context()
    for name, option in options.items():
        value = context.params[option]
        is_given = context.get_parameter_source(option) is ParameterSource.COMMANDLINE
        if is_given and parameters.get(name, value) != value:
            found = f"--{option} {value} and {name} {parameters[name]!r} in --parameters"
            raise XmlcError(f"found {found}, expected the same value. Leave out one of them.")


def refuse_options_of_texts(given: dict[str, Any]) -> None:
    """Raise an error for an option that files of features do not have."""
    usual = USUAL._asdict()
    for name in OF_TEXTS:
        value = given.get(name)
        if value and value != usual.get(name):
            expected = f"a file of texts. Leave out --{name}."
            raise XmlcError(f"--{name}: found a file of features, expected {expected}")


def refuse_standard_input(file: Path) -> None:
    """Raise an error if a file of features is standard input, which only texts can be read from."""
    if file == STDIN:
        expected = "a file. Save the features in a file."
        raise XmlcError(f"{STDIN}: found standard input for features, expected {expected}")


def features_and_labels(
    file: Path,
    given: dict[str, Any],
    n_features: int | None = None,
) -> tuple[Any, Any]:
    """Read features and labels from one file or from two files.

    For prediction, with ``n_features``, the file of labels of npz is not needed, and None.
    """
    refuse_options_of_texts(given)
    refuse_standard_input(file)
    second = None
    if given["labels"] != USUAL.labels:
        second = given["labels"]
        refuse_standard_input(Path(second))
    try:
        if n_features and (given["format"] or detect_format(file)) == "npz":
            return load_npz(file), None
        return load(file, given["format"], labels=second, n_features=n_features)
    except XmlcError as error:
        message = re.sub(r"(Set|Leave out) (format|labels)=", r"\1 --\2", str(error))
        if given["format"] is None and "Set --format" in message:
            message += f". For texts, set --format to one of {', '.join(READERS)}."
        error.args = (message,)
        raise


def features(file: Path, given: dict[str, Any], model: Any) -> Any:
    """Read the features of instances."""
    if file != STDIN and is_texts(file, given["format"]):
        expected = "features, because the model was trained on features"
        raise XmlcError(f"{file}: found a file of texts, expected {expected}")
    return features_and_labels(file, given, model.n_features_in_)[0]


def text_batches(
    file: Path, given: dict[str, Any], size: int | None, labelled: bool = True
) -> Iterator[list[Document]]:
    """Yield documents in lists of ``size``, or in a single list for None."""
    columns = Columns(**{name: given[name] for name in Columns._fields if name in given})
    rest = documents(file, given["format"], columns, labelled)
    batch = list(islice(rest, size))
    while batch:
        yield batch
        batch = list(islice(rest, size))


def predicted_labels(
    model: SparseProbabilityEstimator,
    names: list[Any],
    X: Any,
    k: int | None,
    threshold: float | np.ndarray | None,
    measure: SetMeasure,
) -> Iterator[Prediction]:
    """Rank the labels of each instance, and mark those in its label set.

    A ranking has k labels, or without k as many as the label set and at least `RANKED`. It may lack
    a label of the set, because the beam search missed it or estimates are equal, and then ends with
    this label.
    """
    if k:
        for pairs in named_labels(names, *model.predict_top_k(X, min(k, len(names))), DIGITS):
            yield pairs, None
        return
    if threshold is None:
        sets = estimates_of_sets(model, X, measure)
    else:
        sets = model.predict_proba(X, threshold)
    most = max(RANKED, int(np.diff(sets.indptr).max(initial=0)))
    ranked = named_labels(names, *model.predict_top_k(X, min(most, len(names))), DIGITS)
    chosen_of = named_labels(names, *top_k_of(sets, most), DIGITS)
    for ranking, chosen in zip(ranked, chosen_of, strict=True):
        pairs = ranking[: max(RANKED, len(chosen))]
        members = [name for name, _ in chosen]
        missing = set(members) - {name for name, _ in pairs}
        last = min((score for _, score in pairs), default=1.0)
        pairs += [(name, min(score, last)) for name, score in chosen if name in missing]
        yield pairs, members
