"""What programs write to the terminal, such as progress, kept out of logs."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

SHOWN_BYTES = 2000  # of the output before an exception


@contextmanager
def silenced_output() -> Iterator[None]:
    """Discard what this process writes to standard output and error; after an exception show the last `SHOWN_BYTES`.

    Programs in other languages write to the file descriptors, past ``sys.stdout`` and ``sys.stderr``. These belong to
    the process, so the output of all its threads is discarded.
    """
    _flush()
    with tempfile.TemporaryFile() as held:
        saved = [(descriptor, os.dup(descriptor)) for descriptor in (1, 2)]
        for descriptor, _ in saved:
            os.dup2(held.fileno(), descriptor)
        failed = True
        try:
            yield
            failed = False
        finally:
            _flush()
            for descriptor, copy in saved:
                os.dup2(copy, descriptor)
                os.close(copy)
            if failed:
                held.seek(max(held.seek(0, os.SEEK_END) - SHOWN_BYTES, 0))
                os.write(2, held.read())


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
