"""Receiving in a thread that can be left behind, because no part of a request can be trusted to end.

A name server, a handshake, a header or a body may each come so slowly that every single wait is short.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator
from typing import TypeVar

from xmlc.data.fetching.limits import Watch

T = TypeVar("T")
WAITING = 16  # pieces that may wait to be written


class Abandoned(Exception):
    """Nobody waits any more for what a thread receives."""


class _End:
    """The last item: an error, or none."""

    def __init__(self, error: BaseException | None):
        self.error = error


def supervised(send: Callable[[Callable[[T], None]], None], watch: Watch) -> Generator[T, None, None]:
    """Give what a function sends from a thread of its own.

    Parameters
    ----------
    send : callable
        Is called with a function, which it calls with each thing that it receives. That raises `Abandoned` once nobody
        waits any more.
    watch : Watch
        Counts the bytes among these things.

    Yields
    ------
    object

    Raises
    ------
    TooSlow, XmlcError
        See `Watch.check`. The thread may go on waiting; it writes nothing and ends with the process.
    Exception
        What ``send`` raised.
    """
    items: queue.Queue[T | _End] = queue.Queue(WAITING)
    abandoned = threading.Event()

    def put(item: T | _End) -> None:
        while not abandoned.is_set():
            try:
                return items.put(item, timeout=0.1)
            except queue.Full:
                continue
        raise Abandoned

    def receive() -> None:
        try:
            send(put)
            put(_End(None))
        except Abandoned:
            pass
        except BaseException as error:
            if not abandoned.is_set():
                put(_End(error))

    threading.Thread(target=receive, daemon=True).start()
    watch.begin()
    try:
        while True:
            watch.check()
            try:
                item = items.get(timeout=watch.step)
            except queue.Empty:
                continue
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            if isinstance(item, bytes):
                watch.received(len(item))
            yield item
    finally:
        abandoned.set()
