"""Progress of long steps: a bar on a terminal, a plain line now and then in a log."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Count up to ``total`` and show it on standard error.

    Parameters
    ----------
    total : float
        The amount of work, in any unit.
    title : str
        What is being done.
    unit : str
        What ``total`` counts, for the display.
    shown : bool
        Whether to show anything at all.
    """

    def __init__(self, total: float, title: str, unit: str = "it", shown: bool = True):
        self.total, self.title, self.unit, self.shown = total, title, unit, shown
        self.done = 0.0
        self._started = self._last = time.monotonic()
        self._bar = None
        if shown and sys.stderr.isatty():
            self._bar = tqdm(total=total, desc=title, unit=unit, unit_scale=True, leave=False, mininterval=0.2)

    def update(self, amount: float) -> None:
        """Add ``amount`` to the work done."""
        self.done += amount
        if self._bar is not None:
            self._bar.update(amount)
        elif self.shown and time.monotonic() - self._last >= SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            print(self._line(self._last - self._started), file=sys.stderr, flush=True)

    def _line(self, seconds: float) -> str:
        """Say how far it is, how fast it goes and what is left, as in ``x: 25 %, 00:30, 1.20M nnz/s, 01:30 left``."""
        rate = self.done / seconds if seconds > 0 else 0.0
        speed = f"{tqdm.format_interval(seconds)}, {tqdm.format_sizeof(rate)} {self.unit}/s"
        if not self.total:  # the amount of work is unknown
            return f"{self.title}: {tqdm.format_sizeof(self.done)} {self.unit}, {speed}"
        left = f", {tqdm.format_interval(max(self.total - self.done, 0) / rate)} left" if rate > 0 else ""
        return f"{self.title}: {100 * self.done / self.total:.0f} %, {speed}{left}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def in_hours(seconds: float) -> str:
    """Say a long time as one would say an estimate: ``50 min``, ``3 h``, ``2 days``."""
    for unit, length in (("days", 86400.0), ("h", 3600.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds / 60, 1):.0f} min"
