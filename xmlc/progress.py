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
        self.total, self.title, self.shown = total, title, shown
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
            share = 100 * self.done / self.total if self.total else 100.0
            seconds = self._last - self._started
            print(f"{self.title}: {share:.0f} % after {seconds:.0f} s", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
