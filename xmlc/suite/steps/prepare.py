"""Convert a dataset's text files to arrays on disk, and compare its size with published numbers."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy import sparse

from xmlc.cli.options import FOLDER, out_option
from xmlc.core.checksums import NAME as CHECKSUMS
from xmlc.core.checksums import check_listed
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, read_json, write_json
from xmlc.data.formats import WITHOUT_HEADER, load, read_coordinates
from xmlc.data.formats.arff import check_alike
from xmlc.data.formats.lines import WHOLE, MalformedLines, quoted, text_lines, words
from xmlc.data.formats.vw import NoIds
from xmlc.data.matrices import first_columns, load_csr, resize, save_csr, without
from xmlc.data.synthetic import is_made, name_in_records
from xmlc.suite.config.catalogue import Dataset, catalogue_entry, load_catalogue
from xmlc.suite.files import sha256
from xmlc.suite.options import catalogue_option, entry_option, file_option
from xmlc.suite.provenance.environment import step_costs
from xmlc.suite.results.records.statistics import Statistics, part_statistics
from xmlc.suite.steps.prepared import (
    COUNTED,
    FORMAT_VERSION,
    DataPart,
    Meta,
    fit_mask,
    recorded_name,
)

DESCRIPTION = "source.json"
SEED = 0  # of the validation split of run 0. Run i has the seed ``SEED + i``
# Published averages have only three to six digits, so that small differences are rounding.
RELATIVE_TOLERANCE = 5e-3


def prepare(
    dataset: Dataset, source: Path, out: Path, validation_share: float = 0.2
) -> tuple[Meta, DataPart, DataPart]:
    """Read, check and split a dataset, and write it as arrays that can be memory-mapped.

    ``out`` gets ``train/``, ``test/``, ``split.npy`` and ``meta.json``. The validation share of the
    training set is drawn with seed 0. File names in a ``source.json`` of the source folder replace
    the catalogue's. Returns the content of ``meta.json``, and (X, Y) of the training and test set.
    """
    described = description_in(source)
    try:
        files = files_of_source(dataset, source)
        train, test, left_out, notes = read_sets(source, files)
    except XmlcError as error:
        if described.get("copied"):
            names = ", ".join(described["copied"])
            advice = "Edit the originals there, and run the command again"
            error.args = (
                f"{error}\n{source} has copies of {names} from {described['origin']}. {advice}",
            )
        raise
    parts = {"train": train, "test": test}
    for name, (X, Y) in parts.items():
        if not Y.nnz:
            raise XmlcError(
                f"{source}: found no label in the {X.shape[0]} {name} instances, expected at "
                "least one"
            )
    n, d = train[0].shape
    m = train[1].shape[1]
    counts: Meta = {
        "n_train": n,
        "n_test": test[0].shape[0],
        "d": d,
        "m": m,
        "labels_per_instance": train[1].nnz / max(n, 1),
        "instances_per_label": train[1].nnz / max(m, 1),
    }
    made = is_made(described)
    notes += remarks(dataset, counts, made)
    notes += absent_labels(train[1], test[1])
    lines = [f"{name} {sha256(source / name)}" for name in files.files if name != files.filter]
    if files.filter:
        lines.append(f"filter {sha256(source / files.filter)}")
    meta: Meta = {
        "version": FORMAT_VERSION,
        "name": dataset.name,
        "synthetic": made,
        **counts,
        "digest": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
        "split": {"validation_share": validation_share, "seed": SEED},
        "notes": notes,
    }
    with atomic_folder(out) as folder:
        for name, (X, Y) in parts.items():
            (folder / name).mkdir()
            save_csr(folder / name, "X", X)
            save_csr(folder / name, "Y", Y)
            if (source / f"{name}.P.json").exists():
                save_csr(folder / name, "P", load_csr(source, f"{name}.P", made_by="synth"))
        if left_out is not None:
            save_csr(folder / "test", "F", left_out)
        np.save(folder / "split.npy", fit_mask(n, validation_share, SEED))
        write_json(folder / "meta.json", meta)
    return meta, train, test


def read_sets(
    source: Path, files: Dataset
) -> tuple[DataPart, DataPart, sparse.csr_array | None, list[str]]:
    """Return training set, test set without ignored pairs, these pairs, and notes."""
    train, test = read_parts(source, files)
    X, notes = _same_width(train, test, files.format)
    Y = test[1]
    if not files.filter:
        return train, (X, Y), None, notes
    left_out = read_pairs(source / files.filter, Y.shape)
    kept = without(Y, left_out)
    n_true = Y.nnz - kept.nnz
    notes.append(f"test set: measures ignore {left_out.nnz} pairs, {n_true} of them true")
    return train, (X, kept), left_out, notes


def remarks(dataset: Dataset, counts: Meta, made: bool) -> list[str]:
    """Return how a real or synthetic (``made``) dataset differs from the published one."""
    if made:
        called = name_in_records(dataset.name, made)
        return [
            f"synthetic dataset: tables name it {called!r} and compare it with no published numbers"
        ]
    notes = []
    if dataset.published:
        notes += differences(counts, dataset.published)
    if dataset.edition and any(note.startswith(("n_train:", "d:")) for note in notes):
        hint = "Rename it, because tables would compare it with published numbers of that edition"
        notes.append(f"the data differ from {dataset.edition}. {hint}")
    return notes


def description_in(source: Path) -> dict[str, Any]:
    """Return ``source.json``, undamaged, or {} if a user filled the folder by hand."""
    if (source / CHECKSUMS).exists():
        check_listed(source, DESCRIPTION)
    described: dict[str, Any] = {}
    if (source / DESCRIPTION).exists():
        described = read_json(source / DESCRIPTION)
    return described


def files_of_source(dataset: Dataset, source: Path) -> Dataset:
    """Return a catalogue entry that describes the files in a source folder, as fetched.

    Without a ``source.json``, it is ``dataset``, whose files may be compressed, such as
    ``train.txt.xz`` instead of ``train.txt``.
    """
    described = description_in(source)
    if described:
        files = dataset.stored(described)
    else:
        found = dataset.files_in(source)
        files = (dataset.layout_of(found) or dataset).renamed(
            {name: file.name for name, file in found.items()}
        )
    for name in files.files:
        if not (source / name).is_file():
            raise XmlcError(
                f"{source / name}: found no such file. Run xmlc download {dataset.name}, or copy "
                "the file there"
            )
        if (source / CHECKSUMS).exists():
            check_listed(source, name)
    return files


def read_parts(source: Path, files: Dataset) -> tuple[DataPart, DataPart]:
    """Read the training set and the test set."""
    train = [source / name for name in files.train]
    test = [source / name for name in files.test]
    split = files.split_files
    if split:  # row numbers, each column another random split
        X, Y = load(train[0], "repository", zero_based=files.zero_based)
        column = split.get("column", 0)
        fit = _row_numbers(source / split["train"], column, X.shape[0])
        held_out = _row_numbers(source / split["test"], column, X.shape[0])
        return (X[fit], Y[fit]), (X[held_out], Y[held_out])
    if files.format == "coordinates":
        return read_coordinates(train), read_coordinates(test)
    labels = None
    if files.labels:
        labels = source / files.labels
    if files.format == "arff":
        check_alike(train[0], test[0], labels)
    vocabulary: dict[str, int] | None = None

    def read(data: Path, own_labels: Path | None = labels) -> DataPart:
        return load(
            data,
            labels=own_labels,
            format=files.format,
            zero_based=files.zero_based,
            vocabulary=vocabulary,
        )

    try:
        return read(*train), read(*test)
    # Features in the format vw have names, which get the same numbers in both files.
    except NoIds:
        vocabulary = {}
        return read(*train), read(*test)


def differences(counts: Meta, published: Mapping[str, Any]) -> list[str]:
    """Return a text for each number that differs by more than rounding."""
    notes = []
    for key in COUNTED:
        expected = published.get(key)
        if expected is None:
            continue
        found = counts[key]
        tolerance = 0 if isinstance(expected, int) else max(RELATIVE_TOLERANCE * expected, 0.005)
        if abs(found - expected) > tolerance:
            shown = f"{found:.2f}" if isinstance(found, float) else found
            notes.append(
                f"{key}: found {shown}, published {expected} "
                f"({published.get('source', 'catalogue')})"
            )
    return notes


def absent_labels(train: sparse.csr_array, test: sparse.csr_array) -> list[str]:
    """Return a text, if any, about labels without instances in the test set, or in both sets."""
    m = test.shape[1]
    frequency = np.bincount(test.indices, minlength=m)
    untested = int((frequency == 0).sum())
    nowhere = int((frequency + np.bincount(train.indices, minlength=m) == 0).sum())
    hint = ""
    if nowhere:
        hint = f", and {nowhere} of these labels have none in the training set either (check m)"
    about = "Macro-F counts such a label as 1 if it is not predicted (0/0 = 1)"
    if untested:
        return [f"{untested} of {m} labels have no instance in the test set{hint}. {about}"]
    return []


def _same_width(train: DataPart, test: DataPart, format: str) -> tuple[sparse.csr_array, list[str]]:
    """Return the test features that the training set has, too, and notes on the differences.

    Both label matrices get the larger width, so that measures count the same labels.
    """
    d = train[0].shape[1]
    m = train[1].shape[1]
    d_test = test[0].shape[1]
    notes = []
    if d != d_test and format not in WITHOUT_HEADER:
        notes.append(
            f"found {d_test} features, but {d} in the training set. Check the columns of both files"
        )
    X, dropped = first_columns(test[0], d)
    if dropped:
        notes.append(dropped)
    new = np.unique(test[1].indices[test[1].indices >= m]).size
    if new:
        notes.append(f"{new} labels are not in the training file, but every measure counts them")
    width = max(m, test[1].shape[1])
    for Y in (train[1], test[1]):
        resize(Y, Y.shape[0], width)
    return X, [f"test set: {note}" for note in notes]


def read_pairs(path: Path, shape: tuple[int, int]) -> sparse.csr_array:
    """Read the pairs of a test instance and a label that measures leave out, as a boolean matrix.

    In the repository, datasets with label features (LF-) have such pairs, called reciprocal. Their
    test instances may be labels themselves, and to predict this label is neither rewarded nor
    penalised (github.com/Extreme-classification/siamesexml, issue 7). Each line of
    ``filter_labels_test.txt``, which may be empty, has the numbers of an instance and a label, both
    from 0.
    """
    (n, m) = shape
    places = array("q")
    malformed = MalformedLines(path)
    for number, line in text_lines(path):
        cells = words(line)
        if not cells:
            continue
        numbers = [int(cell) for cell in cells if WHOLE.fullmatch(cell)]
        if len(numbers) == len(cells) == 2 and numbers[0] < n and numbers[1] < m:
            places.append(numbers[0] * m + numbers[1])
        else:
            malformed.add(
                number, quoted(line), f"an instance from 0 to {n - 1} and a label from 0 to {m - 1}"
            )
    malformed.raise_any()
    rows, labels = np.divmod(np.unique(np.asarray(places)), m)
    return sparse.csr_array((np.ones(rows.size, dtype=bool), (rows, labels)), shape=shape)


def _row_numbers(path: Path, column: int, n_rows: int) -> np.ndarray:
    rows: dict[int, None] = {}
    malformed = MalformedLines(path)
    expected = (
        f"a row number from 1 to {n_rows} in column {column} (columns are counted from 0), and "
        "each row once"
    )
    for number, line in text_lines(path):
        cells = words(line)
        if not cells:
            continue
        cell = "".join(cells[column : column + 1])
        row = int(cell) - 1 if WHOLE.fullmatch(cell) else -1
        if 0 <= row < n_rows and row not in rows:
            rows[row] = None
        else:
            malformed.add(number, quoted(cell), expected)
    malformed.raise_any()
    if not rows:
        raise XmlcError(
            f"{path}: found no row numbers, expected at least one. The file may be cut off"
        )
    return np.array(list(rows), dtype=np.int64)


@click.command(
    help="Split a dataset, write it as arrays, and compare its size with published numbers."
)
@click.argument("dataset")
@click.option(
    "--source",
    type=FOLDER,
    required=True,
    help="Folder written by `xmlc download` or `xmlc synth`.",
)
@out_option("Folder to write.")
@file_option("--statistics", "JSON file to write with the dataset's statistics.", required=True)
@catalogue_option
@entry_option
@click.option(
    "--validation-share",
    default=0.2,
    show_default=True,
    help="Share of the training set to hold out for validation.",
)
def command(
    dataset: str,
    source: Path,
    out: Path,
    statistics: Path,
    catalogue: tuple[Path, ...],
    entry: str | None,
    validation_share: float,
) -> None:
    """Prepare a dataset, and print notes."""
    described = catalogue_entry(dataset, load_catalogue(*catalogue), entry)
    meta, train, test = prepare(described, source, out, validation_share)
    Statistics(
        name=recorded_name(meta),
        digest=meta["digest"],
        d=meta["d"],
        m=meta["m"],
        notes=tuple(meta["notes"]),
        train=part_statistics(*train),
        test=part_statistics(*test),
        step=step_costs("prepare", 1, meta["name"], written=out),
    ).write(statistics)
    for note in meta["notes"]:
        click.echo(f"{dataset}: {note}", err=True)
