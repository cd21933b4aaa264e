"""Measure how fast files in the repository format are read, compared with scikit-learn's reader on one thread.

The file is in the system's page cache, so the disk has no effect. Both readers must return the same arrays.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy import sparse

from benchmarks.commands import benchmark, rounds_option
from benchmarks.harness import TIME, Contender, Report, Task
from xmlc.cli._options import FILE
from xmlc.core.errors import XmlcError, needs_extra
from xmlc.data.formats import load

OURS, BASELINE, READING = "xmlc", "scikit-learn", "reading"


@benchmark("read", "Compare the reader with scikit-learn's.", click.argument("file", type=FILE), rounds_option())
def bench_read(file: Path, rounds: int) -> Report:
    """Measure the speed of both readers on the same file."""
    megabytes = file.stat().st_size / 1e6
    about = f"{megabytes:.1f} MB of text, page cache, the fastest of {rounds} interleaved rounds"
    report = Report(
        "read", file.name, about, [Contender(OURS, "this package"), Contender(BASELINE, "load_svmlight_file")]
    )
    both = zip(load(file, "repository"), in_our_form(*read_by_baseline(file)), strict=True)
    parts = ("shape", "indptr", "indices", "data")
    if not all(np.array_equal(getattr(ours, part), getattr(theirs, part)) for ours, theirs in both for part in parts):
        raise XmlcError(f"{file}: found different arrays from the two readers. Report this together with the file")
    tasks = [
        Task(OURS, READING, lambda: load(file, "repository")),
        Task(BASELINE, READING, lambda: read_by_baseline(file)),
    ]
    report.measure(tasks, rounds)
    for reader in (OURS, BASELINE):
        report.add(reader, READING, "speed", "MB/s", megabytes / report.value(reader, READING, TIME))
    report.compare(OURS, BASELINE, READING)
    return report


def read_by_baseline(path: Path) -> tuple[Any, list[tuple[float, ...]], int]:
    """Return the instances, the labels and the number of labels that scikit-learn's reader reads."""
    try:
        from sklearn.datasets import load_svmlight_file
    except ImportError as error:
        raise needs_extra("scikit-learn is not installed", "baselines") from error
    with open(path, "rb") as file:
        _, d, m = map(int, file.readline().split())  # Skip the header, which scikit-learn's reader does not accept.
        X, labels = load_svmlight_file(file, multilabel=True, zero_based=True, n_features=d, dtype=np.float32)
    return X, labels, m


def in_our_form(X: Any, labels: list[tuple[float, ...]], m: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Convert scikit-learn's result to the form of xmlc's reader: no stored zeros, and boolean label sets."""
    X = sparse.csr_array(X)
    X.eliminate_zeros()
    rows = np.repeat(np.arange(len(labels)), [len(row) for row in labels])
    ids = np.array([label for row in labels for label in row], dtype=np.int32)
    return X, sparse.csr_array((np.ones(ids.size, dtype=bool), (rows, ids)), shape=(len(labels), m))
