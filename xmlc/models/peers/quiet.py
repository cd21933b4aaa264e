"""Keeping a program's progress out of terminals and logs."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

TOLD_BYTES = 2000


@contextmanager
def quiet() -> Iterator[None]:
    """Hold back what this process writes to standard output and error; if it fails, show the last of it as error.

    Programs in other languages write to the file descriptors, past ``sys.stdout`` and ``sys.stderr``; so this holds
    for all threads.
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
                held.seek(max(held.seek(0, os.SEEK_END) - TOLD_BYTES, 0))
                os.write(2, held.read())


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
