"""From a dataset's text files to arrays on disk, checked against the sizes that papers print."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from xmlc.core.checksums import NAME as CHECKSUMS
from xmlc.core.checksums import Damaged, check_listed
from xmlc.core.errors import XmlcError
from xmlc.core.files import atomic_folder, read_json, sha256, write_json
from xmlc.data.archives import SUFFIXES
from xmlc.data.catalogue import Dataset, Layout, PublishedCounts, SplitFiles
from xmlc.data.formats import FORMATS, WITHOUT_HEADER, load, read_coordinates
from xmlc.data.formats.arff import check_alike
from xmlc.data.formats.lines import LineError, MalformedLines, quoted, text_lines, whole
from xmlc.data.formats.vw import NoIds, by_ids
from xmlc.data.matrices import first_columns, load_csr, resize, save_csr
from xmlc.data.prepared import COUNTED, FORMAT_VERSION, Counts, Meta, fit_mask

RELATIVE_TOLERANCE = 5e-3  # averages are printed with three to six digits
PARTS: tuple[Literal["train", "test"], ...] = ("train", "test")
Part = tuple[sparse.csr_array, sparse.csr_array]


class Preparation(NamedTuple):
    """A dataset as it was written.

    Attributes
    ----------
    meta : Meta
        Its description; ``notes`` are the differences from the published numbers and the labels without instances.
    train, test : (csr_array, csr_array)
        Features and label sets.
    """

    meta: Meta
    train: Part
    test: Part


def prepare(dataset: Dataset, source: Path, out: Path, validation_share: float = 0.2, seed: int = 0) -> Preparation:
    """Read a dataset, check it, split it and write it as arrays that can be memory-mapped.

    Parameters
    ----------
    dataset : Dataset
        The catalogue's entry; ``source.json`` in the source folder says which files are really there.
    source : Path
        Folder with the text files.
    out : Path
        Folder to write: ``train/``, ``test/``, ``split.npy``, ``meta.json``.
    validation_share, seed : float, int
        The split of the training set.

    Returns
    -------
    Preparation
    """
    files = source_files(dataset, source)
    with _copies_named(source):
        train, test = read_parts(source, files)
    test, notes = _of_same_width(train, test, files["format"])
    counts = _counts(train, test)
    notes += differences(counts, dataset.published) if dataset.published else []
    notes += absent_labels(train[1], test[1])
    meta: Meta = {
        "version": FORMAT_VERSION,
        "name": dataset.name,
        **counts,
        "digest": _digest(source, files),
        "split": {"validation_share": validation_share, "seed": seed},
        "notes": notes,
    }
    with atomic_folder(out) as folder:
        for name, (X, Y) in (("train", train), ("test", test)):
            (folder / name).mkdir()
            save_csr(folder / name, "X", X)
            save_csr(folder / name, "Y", Y)
            if (source / f"{name}.P.json").exists():
                save_csr(folder / name, "P", load_csr(source, f"{name}.P", made_by="synth"))
        np.save(folder / "split.npy", fit_mask(train[0].shape[0], validation_share, seed))
        write_json(folder / "meta.json", meta)
    return Preparation(meta, train, test)


def source_files(dataset: Dataset, source: Path) -> Layout:
    """Return format, base of ids and file names, as ``source.json`` or else the catalogue gives them.

    Without ``source.json`` a file may also lie there compressed: ``train.txt`` as ``train.txt.xz``, say.

    Raises
    ------
    XmlcError
        A file is missing or was changed since it was fetched, or ``source.json`` does not say what it must.
    """
    described = source / "source.json"
    has_list = (source / CHECKSUMS).exists()  # what was put there by hand has none
    if has_list:
        check_listed(source, described.name)
    if described.exists():
        content = read_json(described)
        good = isinstance(content, dict) and all(isinstance(content.get(part), list) for part in ("train", "test"))
        if not good or content.get("format") not in FORMATS:
            raise XmlcError(f"{described}: expected an object with format, train and test; fetch {dataset.name} anew")
        files: Layout = {
            "format": content["format"],
            "zero_based": content.get("zero_based", True),
            "train": content["train"],
            "test": content["test"],
            "labels": content.get("labels"),
            "split_files": content.get("split_files"),
        }
    else:
        found = {name: _present(source, name) for entry in dataset.layouts for name in entry.files}
        there = (entry for entry in dataset.layouts if all((source / found[name]).is_file() for name in entry.files))
        files = next(there, dataset).layout(found)
    for name in data_files(files):
        if not (source / name).is_file():
            raise XmlcError(f"{source / name}: no such file; run xmlc download {dataset.name}, or put it there by hand")
        if has_list:
            with _copies_named(source):
                check_listed(source, name)
    return files


@contextmanager
def _copies_named(source: Path) -> Iterator[None]:
    """Have errors about copies name what they are copies of, which the user can mend."""
    try:
        yield
    except XmlcError as error:
        described = read_json(source / "source.json") if (source / "source.json").exists() else {}
        if copied := described.get("copied"):
            where, text = described["origin"], str(error)
            for name in copied if not isinstance(error, Damaged) else ():
                text = text.replace(str(source / name), str(Path(where, name)))
            told = f"{source} has copies of {', '.join(copied)} in {where}"
            error.args = (f"{text}\n{told}: edit it there, and give the same command again",)
        raise


def data_files(files: Layout) -> list[str]:
    """List all files that the data depends on, in a fixed order, each once."""
    names = [*files["train"], *files["test"]]
    names += [files["labels"]] if files["labels"] else []
    names += [files["split_files"]["train"], files["split_files"]["test"]] if files["split_files"] else []
    return list(dict.fromkeys(name for name in names if name))


def _present(source: Path, name: str) -> str:
    """Return the name under which a file is there, compressed or not; the plain name if it is not."""
    return next((name + suffix for suffix in SUFFIXES if (source / (name + suffix)).is_file()), name)


def read_parts(source: Path, files: Layout) -> tuple[Part, Part]:
    """Read training and test part in any of the formats."""
    format, train, test = files["format"], files["train"], files["test"]
    if files["split_files"]:
        return read_split(source, train[0], files["split_files"], files["zero_based"])
    if format == "coordinates":
        first, second = (read_coordinates([source / name for name in names]) for names in (train, test))
        return first, second
    labels = source / files["labels"] if files["labels"] else None
    if format == "arff":
        check_alike(source / train[0], source / test[0], labels)
    # Of vw, one numbering of the names in both files; names that are numbers of columns stay these.
    vocabulary: dict[str, int] | None = {} if format == "vw" else None
    first, second = (
        load(
            source / names[0],
            format,
            zero_based=files["zero_based"],
            labels=source / names[1] if names[1:] else labels,
            vocabulary=vocabulary,
        )
        for names in (train, test)
    )
    if vocabulary is not None:
        with suppress(NoIds):  # the second one first: only that has all the names, and nothing is changed if they fail
            second, first = ((by_ids(source / train[0], X, vocabulary), Y) for X, Y in (second, first))
    return first, second


def differences(counts: Counts, published: PublishedCounts) -> list[str]:
    """Say where counts differ from the published ones, and averages by more than printing explains."""
    notes = []
    for key in COUNTED:
        expected = published.get(key)
        if expected is None:
            continue
        found = counts[key]
        tolerance = 0 if isinstance(expected, int) else max(RELATIVE_TOLERANCE * expected, 0.005)
        if abs(found - expected) > tolerance:
            shown = f"{found:.2f}" if isinstance(found, float) else found
            notes.append(f"{key}: found {shown}, published {expected} ({published.get('source', 'catalogue')})")
    return notes


def absent_labels(train: sparse.csr_array, test: sparse.csr_array) -> list[str]:
    """Say how many labels have no instance in the test set, or in neither set, if there are any."""
    m = test.shape[1]
    frequency = np.bincount(test.indices, minlength=m)
    untested = int((frequency == 0).sum())
    nowhere = int((frequency + np.bincount(train.indices, minlength=m) == 0).sum())
    if not untested:
        return []
    hint = f", of which {nowhere} have none in the training set either (is m right?)" if nowhere else ""
    return [
        f"{untested} of {m} labels have no instance in the test set{hint}: macro-F counts each that is not predicted "
        "as 1 (0/0 = 1)"
    ]


def _counts(train: Part, test: Part) -> Counts:
    (n, d), (_, m), positives = train[0].shape, train[1].shape, train[1].nnz
    return {
        "n_train": n,
        "n_test": test[0].shape[0],
        "d": d,
        "m": m,
        "labels_per_instance": positives / max(n, 1),
        "instances_per_label": positives / max(m, 1),
    }


def _of_same_width(train: Part, test: Part, format: str) -> tuple[Part, list[str]]:
    """Return the test set with the features of the training set, and what must be said of it.

    Both get the larger number of labels: without its new ones the measures would be of other label sets.
    """
    (d, m), (d_test, m_test) = ([matrix.shape[1] for matrix in part] for part in (train, test))
    X, dropped = first_columns(test[0], d)
    for Y in (train[1], test[1]):
        resize(Y, Y.shape[0], max(m, m_test))
    new = np.unique(test[1].indices[test[1].indices >= m]).size
    kept = new and f"labels that the training file lacks keep columns and count in every measure: {new}"
    other = d != d_test and format not in WITHOUT_HEADER
    differs = other and f"it has {d_test} features, the training set {d}; do the same columns mean the same?"
    return (X, test[1]), [f"test set: {said}" for said in (differs, dropped, kept) if said]


def _digest(source: Path, files: Layout) -> str:
    """Return one SHA-256 over the names and SHA-256 of the data files, in their order."""
    lines = [f"{name} {sha256(source / name)}" for name in data_files(files)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def read_split(source: Path, data: str, split_files: SplitFiles, zero_based: bool) -> tuple[Part, Part]:
    """Read a data file and cut it by one column of its split files.

    Parameters
    ----------
    source : Path
        Folder of the files.
    data : str
        File in the repository format.
    split_files : SplitFiles
        A file of row numbers has one column for each of several splits.
    zero_based : bool
        Whether ids of labels start from 0.
    """
    X, Y = load(source / data, "repository", zero_based=zero_based)
    column = split_files.get("column", 0)
    train, test = (_row_numbers(source / split_files[part], column, X.shape[0]) for part in PARTS)
    return (X[train], Y[train]), (X[test], Y[test])


def _row_numbers(path: Path, column: int, n_rows: int) -> np.ndarray:
    rows: dict[int, None] = {}
    malformed = MalformedLines(path)
    for number, line in text_lines(path):
        cells = line.split()
        if not cells:
            continue
        if column >= len(cells):
            malformed.add(
                number, f"{len(cells)} columns", f"at least {column + 1}: column {column}, from 0, is asked for"
            )
            continue
        try:
            row = whole(cells[column]) - 1
        except LineError:
            row = -1
        if not 0 <= row < n_rows or row in rows:
            malformed.add(number, quoted(cells[column]), f"row numbers of 1 .. {n_rows}, each once")
        rows[row] = None
    malformed.raise_any()
    if not rows:
        raise XmlcError(f"{path}: names no rows; is the file cut off?")
    return np.array(list(rows), dtype=np.int64)
