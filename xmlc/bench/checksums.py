"""What checksums cost: a file held against its checksum, compared with the mere reading of the same file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from xmlc.bench.harness import TIME, Rows, Task
from xmlc.bench.rows import Contender, Report
from xmlc.checksums import CHUNK, checksum_of
from xmlc.files import sha256

CONTENDERS = [
    Contender("checksum", "XXH3 with 128 bits, as folders are proven"),
    Contender("sha256", "SHA-256 by the standard library, as downloads are recorded"),
    Contender("reading", "the same pieces of the same file read into the same place: the limit"),
]
TASK, UNIT = "a file in memory", "s per GB"
AT_LEAST = 0.02  # seconds of repetitions in a round


def bench_checksums(megabytes: int = 1000, rounds: int = 5) -> Report:
    """Measure one file of random bytes, which the operating system keeps in memory, on one thread."""
    rows = Rows("checksums", "synthetic")
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder) / "file", megabytes)
        calls: dict[str, Callable[[Path], object]] = {"checksum": checksum_of, "sha256": sha256, "reading": read}
        tasks = [Task(name, TASK, partial(call, file), UNIT, megabytes / 1000) for name, call in calls.items()]
        rows.measure(tasks, rounds, AT_LEAST)
    for name in ("checksum", "sha256"):
        rows.compare(name, "reading", TASK)
    for name in calls:
        rows.add(name, TASK, "speed", "GB/s", 1 / rows.value(name, TASK, TIME))
    return rows.report(
        about=f"a file of {megabytes:,} MB of random bytes, in memory; minimum of {rounds} interleaved rounds",
        contenders=CONTENDERS,
    )


def written(file: Path, megabytes: int) -> Path:
    """Write so many MB of random bytes."""
    rng = np.random.default_rng(0)
    with file.open("wb") as stream:
        for _ in range(megabytes):
            stream.write(rng.bytes(1_000_000))
    return file


def read(file: Path) -> int:
    """Read a file as `checksum_of` does; return its size."""
    room, size = bytearray(CHUNK), 0
    with file.open("rb", buffering=0) as stream:
        while got := stream.readinto(room):
            size += got
    return size
