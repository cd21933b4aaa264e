"""How fast the repository format is read, beside scikit-learn's reader of the same rows."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import NamedTuple

from sklearn.datasets import load_svmlight_file

from xmlc.data.formats import load
from xmlc.data.synthetic import SyntheticModel
from xmlc.data.writer import save_repository
from xmlc.passport import timed

ROUNDS = 3


class ReadSpeed(NamedTuple):
    """What was measured, as medians over alternating rounds on one thread.

    Attributes
    ----------
    megabytes : float
        Size of the text.
    ours, theirs : float
        Megabytes of text per second.
    """

    megabytes: float
    ours: float
    theirs: float


def read_speed(file: Path | None, instances: int) -> ReadSpeed:
    """Measure reading of a plain-text file, or of a synthetic one in the shape of AmazonCat-13K.

    The file is read once before, so that it comes from the page cache and the parser is compiled.
    """
    with tempfile.TemporaryDirectory() as folder:
        text = file or _synthetic(Path(folder) / "train.txt", instances)
        rows = Path(folder) / "rows.txt"  # the peer knows no header
        with open(text, "rb") as source, open(rows, "wb") as target:
            source.readline()
            while block := source.read(1 << 22):
                target.write(block)
        megabytes = text.stat().st_size / 1e6
        load(text)
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(timed(lambda: load(text))[1])
            theirs.append(timed(lambda: load_svmlight_file(str(rows), multilabel=True, zero_based=True))[1])
    return ReadSpeed(megabytes, *(megabytes / statistics.median(seconds) for seconds in (ours, theirs)))


def _synthetic(path: Path, instances: int) -> Path:
    X, Y, _ = SyntheticModel(203_882, 13_330, labels_per_instance=5.0, nonzeros=75).draw(0, instances, n_jobs=1)
    save_repository(path, X, Y)
    return path
