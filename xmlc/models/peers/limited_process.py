"""Programs run in a process of their own, which ends at a limit of time or memory."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence

from xmlc.errors import XmlcError
from xmlc.models.peers.silenced_output import SHOWN_BYTES

# Limits first, so that the import counts too. Memory that is refused ends the program, whatever it says then.
VOWPAL_WABBIT = """
import json, resource, sys
options, seconds, size = json.loads(sys.stdin.read())
if seconds is not None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
if size is not None:
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
import vowpalwabbit
vowpalwabbit.Workspace(arg_list=options).finish()
"""
REFUSED = ("bad_alloc", "MemoryError", "allocate", "Cannot allocate memory")


def train_within(options: Sequence[str], seconds: float | None, gigabytes: float | None) -> None:
    """Train Vowpal Wabbit in a process of its own, and end that at a limit.

    Parameters
    ----------
    options : sequence of str
        Of the program, which writes its model at its end.
    seconds : float or None
        Processor time, rounded up to whole seconds.
    gigabytes : float or None
        Address space of the process, in 10^9 bytes.

    Raises
    ------
    XmlcError
        It was not finished within a limit, or failed.
    """
    limits = (None if seconds is None else int(-(-seconds // 1)), None if gigabytes is None else int(1e9 * gigabytes))
    done = subprocess.run(
        [sys.executable, "-c", VOWPAL_WABBIT],
        input=json.dumps([list(options), *limits]),
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == 0:
        return
    said = (done.stdout + done.stderr)[-SHOWN_BYTES:]
    if seconds is not None and done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise XmlcError(f"Vowpal Wabbit: not finished in {seconds:g} s of processor time; raise time_limit")
    if gigabytes is not None and any(word in said for word in REFUSED):
        raise XmlcError(f"Vowpal Wabbit: not finished in {gigabytes:g} GB of memory; raise memory_limit")
    raise XmlcError(f"Vowpal Wabbit ended with status {done.returncode}: {said}")
