"""Pieces of work on several threads: kernels release the interpreter's lock, results come in piece order.

A piece is fixed by the data (a block of rows, a tree node), never by the number of threads, so a result is
the same bits on any number of them. A thread takes the next piece when it is free, which balances pieces of
unequal size better than a static split. The calling thread works too: a pool whose caller waits for each piece takes
turns with it at the interpreter's lock, and 100 pieces of 10 microseconds took 6.0 ms on two cores, here 1.2.

Ctrl-C ends the work when the pieces that have begun are done: raised within them it would come while numba converts the
arguments or the results of a kernel, which it does not check, and which crashes. A second Ctrl-C is raised at once.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from threading import Condition, Thread, current_thread, main_thread
from typing import Any, TypeVar

from xmlc.core.progress import Progress
from xmlc.core.threads import resolve_threads

T = TypeVar("T")


def run_pieces(
    work: Callable[..., T],
    pieces: Sequence[tuple[Any, ...]],
    n_jobs: int | None = None,
    costs: Iterable[float] | None = None,
    title: str = "",
    unit: str = "pieces",
    progress: Progress | None = None,
    then: Callable[[T], object] | None = None,
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
    then : callable, optional
        Called with each result, in the order of the pieces, by the thread that has it and has waited for those before:
        at most one result for each thread is held at a time, and an empty list returned.
    """
    costs = [1.0] * len(pieces) if costs is None else [float(cost) for cost in costs]
    results: list[Any] = [None] * len(pieces) if then is None else []
    numbers, turn, failures = iter(range(len(pieces))), Condition(), list[BaseException]()
    n_done = [0]  # of the pieces whose result went to `then`

    def fail(error: BaseException) -> None:
        with turn:
            failures.append(error)
            turn.notify_all()

    def work_off(progress: Progress) -> None:
        try:
            for i in numbers:  # each number goes to one thread: this iterator does not let go of the lock
                if failures:
                    return
                result = work(*pieces[i])
                with turn:
                    if then is None:
                        results[i] = result
                    else:
                        while n_done[0] < i and not failures:
                            turn.wait()
                        if failures:
                            return
                        then(result)
                        n_done[0] += 1
                        turn.notify_all()
                    del result
                    progress.update(costs[i])
        except BaseException as error:
            fail(error)

    own = Progress(sum(costs), title, unit, shown=bool(title)) if progress is None else nullcontext(progress)
    with own as shown, interrupts_to(fail):
        threads = [Thread(target=work_off, args=[shown]) for _ in range(min(resolve_threads(n_jobs), len(pieces)) - 1)]
        try:
            for thread in threads:
                thread.start()
            work_off(shown)
            for thread in threads:
                thread.join()
        except BaseException as error:
            fail(error)
        if failures:
            raise failures[0]
    return results


@contextmanager
def interrupts_to(fail: Callable[[BaseException], object]) -> Iterator[None]:
    """Hand the first Ctrl-C in this block to a function, where it would be raised: in the main thread, by Python."""
    usual = signal.default_int_handler
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return

    def interrupted(number: int, frame: object) -> None:
        signal.signal(number, usual)
        fail(KeyboardInterrupt())

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def row_blocks(n_rows: int, rows_per_block: int) -> list[tuple[int, int]]:
    """Split ``n_rows`` rows into blocks ``(start, end)`` of a fixed size, the last one shorter."""
    return [(start, min(start + rows_per_block, n_rows)) for start in range(0, n_rows, rows_per_block)]


def batches(n_rows: int, most: int, n_jobs: int | None) -> list[tuple[int, int]]:
    """Split rows into as few blocks ``(start, end)`` as keep all threads busy and have at most ``most`` rows each."""
    n_threads = resolve_threads(n_jobs)
    n_blocks = n_threads * max(-(-n_rows // (most * n_threads)), 1)
    return row_blocks(n_rows, max(-(-n_rows // n_blocks), 1))
