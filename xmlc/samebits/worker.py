"""One process of `xmlc bits`: the pieces of one group, as for the processor that its environment says.

``python -m xmlc.samebits.worker GROUP OUT [DATA]`` writes JSON: what numba, NumPy and the C library took the processor
for, and for each piece its word, the digests of its parts and its seconds.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from xmlc.files import write_json
from xmlc.runtime.threads import set_process_threads

if TYPE_CHECKING:
    from xmlc.samebits.pieces import Data, Processed

ROWS, TEST_ROWS = 1500, 300  # of a real dataset
LINEAR_LABELS = 200  # more are too many for one classifier each
SYNTHETIC_ROWS, SYNTHETIC_TEST_ROWS = 500, 120


def main(group: str, out: str, folder: str | None = None) -> None:
    """Compute one group."""
    set_process_threads(1)
    from xmlc.samebits.pieces import digest_of, pieces_of
    from xmlc.samebits.processors import features_in_use

    data = prepared_data(Path(folder)) if folder else synthetic_data()
    found: Processed = {"features": features_in_use(), "pieces": {}}
    is_large = group == "linear" and data.Y.shape[1] > LINEAR_LABELS
    for name, run in () if is_large else pieces_of(group).items():
        start = time.perf_counter()
        digest = digest_of(run(data))
        parts = {part: own.digest for part, own in digest.parts.items()}
        seconds = round(time.perf_counter() - start, 2)
        found["pieces"][name] = {"word": digest.word, "parts": parts, "seconds": seconds}
    write_json(Path(out), found)


def synthetic_data() -> Data:
    """Draw a small multi-label set whose true posteriors stand for estimates."""
    from xmlc.data.synthetic.labels import SyntheticModel
    from xmlc.samebits.pieces import Data

    model = SyntheticModel(n_features=300, n_labels=40, labels_per_instance=2.0, nonzeros=25, seed=1)
    X, Y, P = model.draw(0, SYNTHETIC_ROWS + SYNTHETIC_TEST_ROWS, 1)
    assert P is not None
    return Data(X[:SYNTHETIC_ROWS], Y[:SYNTHETIC_ROWS], *(part[SYNTHETIC_ROWS:] for part in (X, Y, P)))


def prepared_data(folder: Path) -> Data:
    """Read the first instances of a prepared dataset; other instances' labels stand for estimates, between 0 and 1."""
    import numpy as np
    from scipy import sparse

    from xmlc.data.prepared import Prepared
    from xmlc.samebits.pieces import Data

    (X, Y), (X_test, Y_test) = Prepared(folder).part("train"), Prepared(folder).part("test")
    n_test = min(TEST_ROWS, X_test.shape[0])
    others = Y[np.arange(n_test) % Y.shape[0]]
    values = ((np.arange(others.nnz) * 37 + others.indices) % 97 + 1).astype(np.float32) / np.float32(128)
    P_test = sparse.csr_array((values, others.indices, others.indptr), shape=others.shape)
    return Data(X[:ROWS], Y[:ROWS], X_test[:n_test], Y_test[:n_test], P_test)


if __name__ == "__main__":
    main(*sys.argv[1:])
