"""Show the progress of long steps, as a bar on a terminal or as occasional lines in a log."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Self

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0
COMPILING = "compiling kernels"
KEPT = " (cached for the next run)"
# Titles of the displays for which this process has already reported a compilation.
_reported: set[str] = set()


class Progress:
    """Count up to ``total``, and show the progress on standard error unless `xmlc.set_progress`
    turned it off.

    Parameters
    ----------
    total : float
        Total work in any unit, or 0 if it is unknown.
    title : str
        Name of the work in the display.
    unit : str
        Unit of ``total`` in the display.
    shown : bool
        Whether to show the progress. The compilation of kernels is reported even if the progress is
        not shown.
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
        # If this module imported numba, downloads would start slowly, although they compile
        # nothing.
        if silent:
            self._events = None
        else:
            self._events = sys.modules.get("numba.core.event")
        self._bar = None
        if self._shown and sys.stderr.isatty():
            self._bar = tqdm(desc=title, leave=False, smoothing=0, **self._form)

    def update(self, amount: float) -> None:
        """Add ``amount`` to the completed work, and update the display."""
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
        """Report the first compilation of a kernel.

        Numba calls this method when a compilation begins or ends.
        """
        if event.is_start and self._title not in _reported:
            _reported.add(self._title)
            # Import `kernel_cache` only when it is needed, because it imports numba.
            from xmlc.core.kernel_cache import kernel_folder

            # If the folder for kernels is not writable, `kernel_cache` prints a warning.
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
