"""How fast the repository format is read, and in how much memory, beside scikit-learn's reader of the same bytes.

Every reading has a process of its own on one thread, so that the peak of memory is its own too, and the readers take
turns. The text lies in the page cache, kernels are compiled before the clock starts, and both must give the same
arrays.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from xmlc.bench.own_process import in_own_process
from xmlc.bench.results import INLINE, as_json, from_json
from xmlc.errors import XmlcError
from xmlc.passport import Passport, passport, peak_bytes

TINY = "2 2 2\n0 0:0.5 1:1\n 1:1e-30\n"


@dataclass(frozen=True)
class Reading:
    """One reading of a file in a process of its own.

    Attributes
    ----------
    seconds, cpu_seconds : float
    array_bytes : int
    peak_bytes : int
        Above the process before reading.
    instances : int
    digest : str
        Of the arrays.
    """

    seconds: float
    cpu_seconds: float
    array_bytes: int
    peak_bytes: int
    instances: int
    digest: str


@dataclass(frozen=True)
class ReaderResult:
    """The readings of one reader.

    Attributes
    ----------
    seconds, cpu_seconds : list of float
        Of the rounds.
    megabytes_per_second, megabytes_per_cpu_second : float
        Of their medians.
    array_bytes, peak_bytes : int
    """

    seconds: list[float]
    cpu_seconds: list[float]
    megabytes_per_second: float
    megabytes_per_cpu_second: float
    array_bytes: int
    peak_bytes: int


@dataclass(frozen=True)
class Readers:
    """All readers on one file.

    Attributes
    ----------
    file : str
    megabytes : float
        Of text.
    instances : int
    readers : dict of ReaderResult
        By name, see `READERS`.
    ratio : float
        Of the wall speeds.
    passport : Passport
    """

    file: str
    megabytes: float
    instances: int
    readers: dict[str, ReaderResult] = field(metadata=INLINE)
    ratio: float
    passport: Passport


def compare_readers(path: Path | None = None, instances: int = 220_000, rounds: int = 3) -> Readers:
    """Measure both readers on one file.

    Parameters
    ----------
    path : Path, optional
        A file in the repository format, not compressed; without it a synthetic one of AmazonCat's shape.
    instances : int
        Size of the synthetic file.
    rounds : int
        How often each reader reads.

    Raises
    ------
    XmlcError
        The file is not in the format, or the readers disagree.
    """
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            path = Path(folder) / "synthetic-amazoncat-13k.txt"
            in_own_process("xmlc.bench.read", "write", str(path), str(instances))
        _check_plain(path)
        turns = [{reader: _in_own_process(reader, path) for reader in READERS} for _ in range(rounds)]
        megabytes = path.stat().st_size / 1e6
    if len({turn[reader].digest for turn in turns for reader in READERS}) > 1:
        raise XmlcError(f"{path}: the readers disagree on the arrays; please report this with the file")
    results = {reader: _summary([turn[reader] for turn in turns], megabytes) for reader in READERS}
    ratio = results["xmlc"].megabytes_per_second / results["scikit-learn"].megabytes_per_second
    return Readers(path.name, megabytes, turns[0]["xmlc"].instances, results, ratio, passport(threads=1))


def _summary(readings: list[Reading], megabytes: float) -> ReaderResult:
    seconds, cpu_seconds = [one.seconds for one in readings], [one.cpu_seconds for one in readings]
    return ReaderResult(
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        megabytes_per_second=megabytes / statistics.median(seconds),
        megabytes_per_cpu_second=megabytes / statistics.median(cpu_seconds),
        array_bytes=readings[0].array_bytes,
        peak_bytes=max(one.peak_bytes for one in readings),
    )


def to_text(result: Readers) -> str:
    """Return what was measured, as lines."""
    rounds = len(result.readers["xmlc"].seconds)
    lines = [
        f"{result.file}: {result.megabytes:.1f} MB of text, {result.instances} instances",
        f"1 thread, page cache, median of {rounds} alternating rounds; {result.passport['cpu']}",
        f"{'reader':<14}{'MB/s':>8}{'MB/CPU s':>10}{'arrays MB':>11}{'peak MB':>9}",
    ]
    for name, reader in result.readers.items():
        speeds = f"{reader.megabytes_per_second:8.1f}{reader.megabytes_per_cpu_second:10.1f}"
        lines.append(f"{name:<14}{speeds}{reader.array_bytes / 1e6:11.0f}{reader.peak_bytes / 1e6:9.0f}")
    return "\n".join([*lines, f"ratio {result.ratio:.2f}; both give the same arrays"])


def _check_plain(path: Path) -> None:
    """Refuse what only one of the readers could read."""
    if not path.is_file():
        raise XmlcError(f"{path}: no such file")
    with open(path, "rb") as file:
        head = file.readline(100)
    if len(head.split()) != 3 or not head.replace(b" ", b"").strip().isdigit():
        found = head[:40].decode("utf-8", errors="replace")
        raise XmlcError(f"{path}:1: found {found!r}, expected a header n d m; give a repository file, not compressed")


def _in_own_process(reader: str, path: Path) -> Reading:
    """Run this module: a process begins with its parent's peak of memory, so that the parent must stay small."""
    return from_json(Reading, in_own_process("xmlc.bench.read", reader, str(path)))


def _main(work: str, path: str, *arguments: str) -> None:
    reading = None
    try:
        if work == "write":
            write_text(Path(path), int(*arguments))
        else:
            reading = _measure(READERS[work], Path(path))
    except XmlcError as error:
        sys.exit(str(error))
    print(json.dumps(as_json(reading)))


def write_text(path: Path, instances: int) -> None:
    """Write a synthetic text of AmazonCat-13K's d, m and labels per instance (plt2016, Table 1)."""
    from xmlc.data.synthetic.labels import SyntheticModel
    from xmlc.data.writer import save_repository

    # Rows of text come to about a kilobyte.
    model = SyntheticModel(n_features=203_882, n_labels=13_330, labels_per_instance=5.0, nonzeros=75)
    X, Y, _ = model.draw(0, instances, n_jobs=1)
    save_repository(path, X, Y)


def _measure(read: Callable[[Path], tuple[Any, ...]], path: Path) -> Reading:
    """Read once in this process, after compilation and with the file in the page cache."""
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny.txt"
        tiny.write_text(TINY)
        read(tiny)
    with open(path, "rb") as file:
        while file.read(1 << 24):
            pass
    before, wall, cpu = peak_bytes(), time.perf_counter(), time.process_time()
    arrays = read(path)
    seconds, cpu_seconds, peak = time.perf_counter() - wall, time.process_time() - cpu, peak_bytes()
    X, Y = _in_common_form(*arrays)
    return Reading(
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        array_bytes=sum(part.nbytes for matrix in (X, Y) for part in (matrix.data, matrix.indices, matrix.indptr)),
        peak_bytes=peak - before,
        instances=X.shape[0],
        digest=_digest(X, Y),
    )


def _read_ours(path: Path) -> tuple[sparse.csr_array, sparse.csr_array]:
    from xmlc.data.formats import load

    return load(path, "repository")


def _read_scikit_learn(path: Path) -> tuple[Any, list[tuple[float, ...]], int]:
    try:
        from sklearn.datasets import load_svmlight_file
    except ImportError as error:
        raise XmlcError("scikit-learn is not installed; install the extra: pip install 'xmlc[peers]'") from error
    with open(path, "rb") as file:
        _, d, m = map(int, file.readline().split())  # the peer knows no header
        X, labels = load_svmlight_file(file, multilabel=True, zero_based=True, n_features=d, dtype=np.float32)
    return X, labels, m


READERS: dict[str, Callable[[Path], tuple[Any, ...]]] = {"xmlc": _read_ours, "scikit-learn": _read_scikit_learn}


def _in_common_form(X: Any, labels: Any, m: int | None = None) -> tuple[sparse.csr_array, sparse.csr_array]:
    if m is None:
        return X, labels
    X = sparse.csr_array(X)
    X.sort_indices()
    X.eliminate_zeros()
    rows = [sorted(set(map(int, row))) for row in labels]
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    ids = np.array([label for row in rows for label in row], dtype=np.int32)
    return X, sparse.csr_array((np.ones(ids.size, dtype=bool), ids, indptr), shape=(len(rows), m))


def _digest(X: sparse.csr_array, Y: sparse.csr_array) -> str:
    digest = hashlib.sha256(repr((X.shape, Y.shape)).encode())
    for part, dtype in (
        (X.indptr, np.int64), (X.indices, np.int32), (X.data, np.float32), (Y.indptr, np.int64), (Y.indices, np.int32)
    ):  # fmt: skip
        digest.update(np.ascontiguousarray(part, dtype=dtype).data)
    return digest.hexdigest()


if __name__ == "__main__":
    _main(*sys.argv[1:])
