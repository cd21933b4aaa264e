"""From a dataset's text files to arrays on disk, checked against what the papers say about the dataset."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.csr import load_csr, resize, save_csr
from xmlc.data.catalogue import Dataset
from xmlc.data.formats import FORMATS, load
from xmlc.data.prepared import FORMAT_VERSION
from xmlc.data.repository_splits import read_split
from xmlc.data.splits import fit_mask
from xmlc.data.statistics import part_statistics
from xmlc.errors import XmlcError
from xmlc.files import atomic_folder, read_json, sha256, write_json
from xmlc.passport import step_costs

SUFFIXES = ("", ".gz", ".xz", ".bz2")
RELATIVE_TOLERANCE = 5e-3  # averages are printed with three to six digits
Part = tuple[sparse.csr_array, sparse.csr_array]


def prepare(
    dataset: Dataset, source: Path, out: Path, statistics: Path, validation_share: float = 0.2, seed: int = 0
) -> list[str]:
    """Read a dataset, check it, split it and write it as arrays that can be memory-mapped.

    Parameters
    ----------
    dataset : Dataset
        The catalogue's entry; ``source.json`` in the source folder says which files are really there.
    source : Path
        Folder with the text files.
    out : Path
        Folder to write: ``train/``, ``test/``, ``split.npy``, ``meta.json``.
    statistics : Path
        JSON file to write: summaries of both parts, and what the step cost.
    validation_share, seed : float, int
        The split of the training set.

    Returns
    -------
    list of str
        How the data differs from the published numbers; empty if it does not.
    """
    files = source_files(dataset, source)
    train, test = _same_width(*read_parts(dataset, source, files))
    summary = {"train": part_statistics(*train), "test": part_statistics(*test)}
    meta = _meta(dataset, train, test, summary)
    notes = differences(meta, dataset.published or {})
    meta |= {"digest": _digest(source, files), "split": {"validation_share": validation_share, "seed": seed}}
    meta["notes"] = notes
    with atomic_folder(out) as folder:
        for name, (X, Y) in (("train", train), ("test", test)):
            (folder / name).mkdir()
            save_csr(folder / name, "X", X)
            save_csr(folder / name, "Y", Y)
            if (source / f"{name}.P.json").exists():
                save_csr(folder / name, "P", load_csr(source, f"{name}.P"))
        np.save(folder / "split.npy", fit_mask(train[0].shape[0], validation_share, seed))
        write_json(folder / "meta.json", meta)
    content = {key: meta[key] for key in ("name", "digest", "d", "m", "notes")} | summary
    write_json(statistics, content | {"step": step_costs("prepare", 1, dataset.name, written=out)})
    return notes


def source_files(dataset: Dataset, source: Path) -> dict[str, Any]:
    """Return format, base of ids and file names, as ``source.json`` or else the catalogue gives them.

    Without ``source.json`` a file may also lie there compressed: ``train.txt`` as ``train.txt.xz``, say.

    Raises
    ------
    XmlcError
        A file is missing or would lie outside the folder, or ``source.json`` does not say what it must.
    """
    described = source / "source.json"
    if described.exists():
        files = read_json(described)
        good = isinstance(files, dict) and all(isinstance(files.get(part), list) for part in ("train", "test"))
        if not good or files.get("format") not in FORMATS:
            raise XmlcError(f"{described}: expected an object with format, train and test; fetch {dataset.name} anew")
    else:
        files = {"format": dataset.format, "zero_based": dataset.zero_based, "labels": dataset.labels}
        files |= {part: [_present(source, name) for name in getattr(dataset, part)] for part in ("train", "test")}
        files["split_files"] = dataset.split_files
    count = 2 if files["format"] == "repository-two-files" else 1
    for part in ("train", "test"):
        if len(files[part]) != count:
            found = ", ".join(files[part]) or "none"
            raise XmlcError(f"{dataset.name}: {part} files: found {found}, expected {count} for {files['format']}")
    for name in data_files(files):
        if PurePath(name).is_absolute() or ".." in PurePath(name).parts:
            raise XmlcError(f"{dataset.name}: the file name {name!r} leads out of {source}; nothing was read")
        if not (source / name).is_file():
            raise XmlcError(f"{source / name}: no such file; run xmlc download {dataset.name}, or put it there by hand")
    return files


def data_files(files: dict[str, Any]) -> list[str]:
    """List all files that the data depends on, in a fixed order, each once."""
    splits = files.get("split_files") or {}
    names = [*files["train"], *files["test"], files.get("labels"), splits.get("train"), splits.get("test")]
    return list(dict.fromkeys(name for name in names if name))


def _present(source: Path, name: str) -> str:
    """Return the name under which a file is there, compressed or not; the plain name if it is not."""
    return next((name + suffix for suffix in SUFFIXES if (source / (name + suffix)).is_file()), name)


def read_parts(dataset: Dataset, source: Path, files: dict[str, Any]) -> tuple[Part, Part]:
    """Read training and test part in whatever format they come."""
    format, train, test = files["format"], files["train"], files["test"]
    if files.get("split_files"):
        return read_split(source, train[0], files["split_files"])
    if format == "repository-two-files":
        first, second = (load(source / x, format, labels=source / y) for x, y in (train, test))
        return first, second
    options: dict[str, Any] = {"zero_based": files.get("zero_based", True)}
    if format == "arff":
        options = {"labels": source / files["labels"]}
    elif format == "vw":
        options["vocabulary"] = {}  # the test file uses the numbers that the training file gave
    first, second = (load(source / name, format, **options) for (name,) in (train, test))
    return first, second


def differences(meta: dict[str, Any], published: dict[str, Any]) -> list[str]:
    """Say where counts differ from the published ones, and averages by more than printing explains."""
    notes = []
    for key in ("n_train", "n_test", "d", "m", "labels_per_instance", "instances_per_label"):
        expected = published.get(key)
        if expected is None:
            continue
        tolerance = 0 if isinstance(expected, int) else max(RELATIVE_TOLERANCE * expected, 0.005)
        if abs(meta[key] - expected) > tolerance:
            found = f"{meta[key]:.2f}" if isinstance(meta[key], float) else meta[key]
            notes.append(f"{key}: found {found}, published {expected} ({published.get('source', 'catalogue')})")
    return notes


def _meta(dataset: Dataset, train: Part, test: Part, summary: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": FORMAT_VERSION,
        "name": dataset.name,
        "n_train": train[0].shape[0],
        "n_test": test[0].shape[0],
        "d": train[0].shape[1],
        "m": train[1].shape[1],
        "labels_per_instance": summary["train"]["labels_per_instance"]["mean"],
        "instances_per_label": summary["train"]["instances_per_label"]["mean"],
    }


def _same_width(train: Part, test: Part) -> tuple[Part, Part]:
    """Give both parts the same numbers of features and labels: the larger ones."""
    shapes = [(X.shape[1], Y.shape[1]) for X, Y in (train, test)]
    d, m = (max(sizes) for sizes in zip(*shapes))
    for X, Y in (train, test):
        resize(X, X.shape[0], d)
        resize(Y, Y.shape[0], m)
    return train, test


def _digest(source: Path, files: dict[str, Any]) -> str:
    """Return one SHA-256 over the names and SHA-256 of the data files, in their order."""
    lines = [f"{name} {sha256(source / name)}" for name in data_files(files)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
