"""How fast the repository format is read, and in how much memory, compared with scikit-learn's reader.

Every reading has a process of its own on one thread, so that the peak of memory is its own too, and the readers
alternate. The text lies in the page cache, kernels are compiled before the clock starts, and both must give the same
arrays.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.harness import CPU_TIME, TIME, Contender, Report, Rows, in_own_process, main_of
from xmlc.core.errors import XmlcError, needs_extra
from xmlc.core.passport import peak_bytes

READING = "reading"
TINY = "2 2 2\n0 0:0.5 1:1\n 1:1e-30\n"


@dataclass(frozen=True)
class Reading:
    """One reading of a file in a process of its own."""

    seconds: float
    cpu_seconds: float
    array_bytes: int
    #: Above the process before reading.
    peak_bytes: int
    instances: int
    #: Of the arrays.
    digest: str


def bench_read(path: Path | None = None, instances: int = 220_000, rounds: int = 3) -> Report:
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
            in_own_process("benchmarks.read", "write", str(path), str(instances))
        _check_plain(path)
        turns = [{reader: _in_own_process(reader, path) for reader in READERS} for _ in range(rounds)]
        megabytes = path.stat().st_size / 1e6
    if len({turn[reader].digest for turn in turns for reader in READERS}) > 1:
        raise XmlcError(f"{path}: the readers disagree on the arrays; please report this with the file")
    rows = Rows("read", path.name)
    for reader in READERS:
        add_readings(rows, reader, [turn[reader] for turn in turns], megabytes)
    rows.compare("xmlc", "scikit-learn", READING)
    return rows.report(
        about=f"{megabytes:.1f} MB of text, {turns[0]['xmlc'].instances} instances; page cache, minimum of {rounds} "
        f"interleaved rounds; all readers give the same arrays",
        contenders=[Contender("xmlc", "this package"), Contender("scikit-learn", "load_svmlight_file")],
    )


def add_readings(rows: Rows, reader: str, readings: list[Reading], megabytes: float) -> None:
    """Add the readings of one reader: times, speeds and memory."""
    times = {TIME: [one.seconds for one in readings], CPU_TIME: [one.cpu_seconds for one in readings]}
    for measure, seconds in times.items():
        rows.add_least(reader, READING, measure, "s", seconds)
        speeds = [megabytes / turn for turn in seconds]
        rows.add(reader, READING, measure.replace("time", "speed"), "MB/s", max(speeds), speeds)
    rows.add(reader, READING, "arrays", "MB", readings[0].array_bytes / 1e6)
    peaks = [one.peak_bytes / 1e6 for one in readings]
    rows.add(reader, READING, "peak memory", "MB", max(peaks), peaks)


def _check_plain(path: Path) -> None:
    """Refuse a file that only one of the readers could read."""
    if not path.is_file():
        raise XmlcError(f"{path}: no such file")
    with open(path, "rb") as file:
        head = file.readline(100)
    if len(head.split()) != 3 or not head.replace(b" ", b"").strip().isdigit():
        found = head[:40].decode("utf-8", errors="replace")
        raise XmlcError(f"{path}:1: found {found!r}, expected a header n d m; give a repository file, not compressed")


def _in_own_process(reader: str, path: Path) -> Reading:
    """Run this module: a process begins with its parent's peak of memory, so that the parent must stay small."""
    return Reading(**in_own_process("benchmarks.read", reader, str(path)))


def run(work: str, path: str, *arguments: str) -> Reading | None:
    """Read once, or write the synthetic text, with the arguments of the process."""
    if work == "write":
        write_text(Path(path), int(*arguments))
        return None
    return _measure(READERS[work], Path(path))


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
        raise needs_extra("scikit-learn is not installed", "peers") from error
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
    main_of(run)
