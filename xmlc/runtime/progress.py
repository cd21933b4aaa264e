"""Progress of long steps: a bar on a terminal, a plain line now and then in a log."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0
COMPILING = "compiling kernels, which are kept for the next time"
EARLY = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}{postfix}]"  # tqdm's own form without the rate and the time left
_told: set[str] = set()  # titles whose compiling this process has told of


class Progress:
    """Count up to ``total`` and show it on standard error, unless the environment says ``XMLC_PROGRESS=0``.

    The time in which numba compiles kernels is told but not counted: the rate and the time left are those of the work.

    Parameters
    ----------
    total : float
        The amount of work, in any unit.
    title : str
        What is being done.
    unit : str
        What ``total`` counts, for the display.
    shown : bool
        Whether to show how far it is; that kernels are compiled is told in any case.
    """

    def __init__(self, total: float, title: str, unit: str = "it", shown: bool = True):
        self.total, self.title, self.unit = total, title, unit
        silent = os.environ.get("XMLC_PROGRESS") == "0"
        self.shown = shown and not silent
        self.done, self._updates = 0.0, 0
        self._started = self._last = self._compiling_since = time.monotonic()
        self._depth = 0  # of compilations, one inside the other
        # A download compiles nothing and does not import numba, nor does this module.
        self._events = None if silent else sys.modules.get("numba.core.event")
        self._bar = None
        if self.shown and sys.stderr.isatty():
            form = {"unit": unit, "unit_scale": True, "smoothing": 0, "bar_format": EARLY if total else None}
            self._bar = tqdm(total=total, desc=title, leave=False, mininterval=0.2, **form)

    def update(self, amount: float) -> None:
        """Add ``amount`` to the work done."""
        self.done += amount
        self._updates += 1
        if self._bar is not None:
            if self._updates > 1:
                self._bar.bar_format = None
            self._bar.update(amount)
        elif self.shown and time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            print(self._line(self._last - self._started), file=sys.stderr, flush=True)

    def notify(self, event: Any) -> None:
        """Take note that numba begins to compile a kernel, which may compile others, or has ended."""
        self._depth = max(self._depth + (1 if event.is_start else -1), 0)
        if event.is_start and self._depth == 1:
            self._compiling_since = time.monotonic()
            if self._bar is not None:
                self._bar.set_postfix_str(COMPILING)
            elif self.title not in _told:
                _told.add(self.title)
                print(f"{self.title or 'xmlc'}: {COMPILING}", file=sys.stderr, flush=True)
        elif self._depth == 0:
            spent = time.monotonic() - self._compiling_since
            self._started, self._last = self._started + spent, self._last + spent
            if self._bar is not None:
                self._bar.start_t += spent
                self._bar.set_postfix_str("")

    def _line(self, seconds: float) -> str:
        """Say how far it is, how fast it goes and what is left, as in ``x: 25 %, 00:30, 1.20M nnz/s, 01:30 left``.

        After one update of many threads, which take a piece of work each, nobody can say what is left.
        """
        rate = self.done / seconds if seconds > 0 else 0.0
        speed = f"{tqdm.format_interval(seconds)}, {tqdm.format_sizeof(rate)} {self.unit}/s"
        if not self.total:  # the amount of work is unknown
            return f"{self.title}: {tqdm.format_sizeof(self.done)} {self.unit}, {speed}"
        known = rate > 0 and self._updates > 1
        left = f", {tqdm.format_interval(max(self.total - self.done, 0) / rate)} left" if known else ""
        return f"{self.title}: {100 * self.done / self.total:.0f} %, {speed}{left}"

    def __enter__(self) -> Self:
        if self._events is not None:
            self._events.Listener.register(type(self))
            self._events.register("numba:compile", self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._events is not None:
            self._events.unregister("numba:compile", self)
        if self._bar is not None:
            self._bar.close()
