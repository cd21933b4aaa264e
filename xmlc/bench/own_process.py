"""Work in a process of its own: on one thread, with a peak of memory that is its own."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from xmlc.errors import XmlcError
from xmlc.passport import own_peak_bytes

T = TypeVar("T")
ONE_THREAD = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def in_own_process(module: str, *arguments: str) -> Any:
    """Run a module of this package on one thread and return the JSON that it printed last.

    Raises
    ------
    XmlcError
        It failed; the message has the end of its standard error.
    """
    environment = os.environ | dict.fromkeys(ONE_THREAD, "1")
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip()[-2000:] or f"it ended with status {done.returncode} and said nothing"
        raise XmlcError(f"{' '.join(command[1:])} failed:\n{said}")
    return json.loads(done.stdout.splitlines()[-1])


def peak_above(work: Callable[[], T]) -> tuple[T, int]:
    """Call ``work``; return its result and by how many bytes resident memory rose meanwhile, at its peak.

    Memory that was used and freed before is given back first, so that it does not hide what the work takes; where the
    system's library cannot do that, or the system cannot forget a peak, the result may be too small.
    """
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # Linux: the peak is the present from here
    except (OSError, AttributeError):
        pass
    before = own_peak_bytes()
    result = work()
    return result, own_peak_bytes() - before


def main_of(run: Callable[..., Any]) -> None:
    """Call ``run`` with this process's arguments and print the fields of the dataclass that it returns as JSON."""
    try:
        result = run(*sys.argv[1:])
    except XmlcError as error:
        sys.exit(str(error))
    print(json.dumps(None if result is None else asdict(result)))
