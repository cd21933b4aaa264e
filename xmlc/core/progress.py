"""The progress of long steps, as a bar on a terminal or as occasional lines in a log."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Self

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0
COMPILING = "compiling kernels"
KEPT = " (cached for the next run)"
# Titles of displays that have already reported a compilation
_reported: set[str] = set()


class Progress:
    """A count up to ``total``, shown on standard error unless `xmlc.set_progress` turned it off.

    The total may be in any ``unit``, or 0 if it is unknown. The compilation of kernels is reported
    even without ``shown``.
    """

    def __init__(self, total: float, title: str, unit: str = "it", shown: bool = True):
        self._title = title
        silent = os.environ.get("XMLC_PROGRESS") == "0"
        self._shown = shown and not silent
        self._form: dict[str, Any] = {
            "total": total or None,
            "unit": f" {unit}",
            "unit_scale": True,
        }
        self._done = 0.0
        self._started = time.monotonic()
        self._last = self._started
        # An import of numba would slow down downloads, which compile nothing
        if silent:
            self._events = None
        else:
            self._events = sys.modules.get("numba.core.event")
        self._bar = None
        if self._shown and sys.stderr.isatty():
            self._bar = tqdm(desc=title, leave=False, smoothing=0, **self._form)

    def update(self, amount: float) -> None:
        """Add to the completed work, and update the display."""
        self._done += amount
        now = time.monotonic()
        if self._bar is not None:
            self._bar.update(amount)
        elif self._shown and now - self._last >= SECONDS_BETWEEN_LINES:
            self._last = now
            seconds = now - self._started
            line = tqdm.format_meter(
                self._done, elapsed=seconds, ncols=0, prefix=self._title, **self._form
            )
            print(line, file=sys.stderr, flush=True)

    def notify(self, event: Any) -> None:
        """Report the first compilation. numba calls this when one begins or ends."""
        if event.is_start and self._title not in _reported:
            _reported.add(self._title)
            # Imported only when it is needed, because it imports numba
            from xmlc.core.kernel_cache import kernel_folder

            # `kernel_cache` warns if the folder is not writable
            kept = ""
            if os.access(kernel_folder(), os.W_OK):
                kept = KEPT
            tqdm.write(f"{self._title or 'xmlc'}: {COMPILING}{kept}", file=sys.stderr)

    def __enter__(self) -> Self:
        if self._events is not None:
            self._events.Listener.register(type(self))
            self._events.register("numba:compile", self)
        return self

    def __exit__(self, *error: object) -> None:
        if self._events is not None:
            self._events.unregister("numba:compile", self)
        if self._bar is not None:
            self._bar.close()
