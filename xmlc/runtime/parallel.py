"""Pieces of work on several threads: kernels release the interpreter's lock, results come in piece order.

A piece is fixed by the data (a block of rows, a tree node), never by the number of threads, so a result is
the same bits on any number of them. A thread takes the next piece when it is free, which balances pieces of
unequal size better than a static split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from typing import Any, TypeVar

from xmlc.runtime.progress import Progress
from xmlc.runtime.threads import resolve_threads

T = TypeVar("T")


def run_pieces(
    work: Callable[..., T],
    pieces: Sequence[tuple[Any, ...]],
    n_jobs: int | None = None,
    costs: Iterable[float] | None = None,
    title: str = "",
    unit: str = "pieces",
    progress: Progress | None = None,
) -> list[T]:
    """Call ``work(*piece)`` for every piece on ``n_jobs`` threads and return the results in order.

    Parameters
    ----------
    work : callable
        Calls kernels compiled with ``nogil=True``.
    pieces : sequence of tuple
        Started in this order: put the costly ones first.
    n_jobs : int or None
        Threads, see `resolve_threads`.
    costs : iterable of float, optional
        Cost of each piece for the progress display; 1 each by default.
    title, unit : str
        For the progress display; without a title nothing is shown.
    progress : Progress, optional
        One that is open already, in place of a display of its own.
    """
    costs = [1.0] * len(pieces) if costs is None else [float(cost) for cost in costs]
    n_threads = resolve_threads(n_jobs)
    results: list[Any] = [None] * len(pieces)
    own = Progress(sum(costs), title, unit, shown=bool(title)) if progress is None else nullcontext(progress)
    with own as progress:
        if n_threads == 1 or len(pieces) == 1:
            for i, piece in enumerate(pieces):
                results[i] = work(*piece)
                progress.update(costs[i])
            return results
        with ThreadPoolExecutor(n_threads) as pool:
            numbers = {pool.submit(work, *piece): i for i, piece in enumerate(pieces)}
            try:
                for future in as_completed(numbers):
                    i = numbers[future]
                    results[i] = future.result()
                    progress.update(costs[i])
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    return results


def row_blocks(n_rows: int, rows_per_block: int) -> list[tuple[int, int]]:
    """Split ``n_rows`` rows into blocks ``(start, end)`` of a fixed size, the last one shorter."""
    return [(start, min(start + rows_per_block, n_rows)) for start in range(0, n_rows, rows_per_block)]
