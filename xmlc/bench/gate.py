"""What the gate costs: a matrix proven before kernels read it, compared with the mere reading of the same arrays.

The gate (`xmlc.gate`) reads every index and every value once, 8 bytes a non-zero. No check can take less time than that
reading, which memory limits where the matrix is larger than the caches. Both run on one thread, in turns.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from xmlc.bench.harness import TIME, Rows, Task
from xmlc.bench.rows import Contender, Report
from xmlc.gate._order import largest_magnitude
from xmlc.gate.fields import is_finite
from xmlc.gate.matrices import prove_sparse

CONTENDERS = [
    Contender("gate", "index arrays proven and values found finite"),
    Contender("reading", "the largest of the same indices and of the same values: the limit"),
]
IN_CACHE = 250_000  # non-zeros: 2 MB
ROW = 75  # non-zeros of an instance, as in AmazonCat-13K
UNIT, BYTES = "ns per non-zero", 8
AT_LEAST = 0.02  # seconds of repetitions in a round


def bench_gate(nonzeros: int = 50_000_000, rounds: int = 5) -> Report:
    """Measure the gate on a matrix that lies in a cache and on one that does not.

    Parameters
    ----------
    nonzeros : int
        Of the larger matrix.
    rounds : int
    """
    rows, tasks = Rows("gate", "synthetic"), []
    sizes = {"in cache": min(IN_CACHE, nonzeros), "in memory": nonzeros}
    for place, size in sizes.items():
        tasks += tasks_of(f"a matrix {place}", matrix_of(size))
    rows.measure(tasks, rounds, AT_LEAST)
    for task in dict.fromkeys(task.name for task in tasks):
        rows.compare("gate", "reading", task)
        speed = BYTES / rows.value("reading", task, TIME)
        rows.add("reading", task, "speed", "GB/s", speed)
    counts = " and ".join(f"{size:,}" for size in sizes.values())
    return rows.report(
        about=f"CSR of float32 with {ROW} non-zeros a row, {counts} of them; minimum of {rounds} interleaved rounds",
        contenders=CONTENDERS,
    )


def matrix_of(nonzeros: int) -> sparse.csr_array:
    """Return a CSR array of about so many non-zeros whose indices ascend."""
    n = max(1, nonzeros // ROW)
    indices = np.tile(np.arange(ROW, dtype=np.int32) * 7, n)
    starts = np.arange(n + 1, dtype=np.int32) * np.int32(ROW)
    return sparse.csr_array((np.ones(indices.size, dtype=np.float32), indices, starts), shape=(n, 7 * ROW))


def tasks_of(name: str, X: sparse.csr_array) -> list[Task]:
    """Return the tasks on one matrix: the gate, and the reading of what it reads."""

    def prove() -> tuple[bool, bool]:
        return prove_sparse(X, "X"), is_finite(X.data)

    def read() -> tuple[int, int]:
        return largest_magnitude(X.indices.view(np.uint32)), largest_magnitude(X.data.view(np.uint32))

    return [Task("gate", name, prove, UNIT, X.nnz), Task("reading", name, read, UNIT, X.nnz)]
