"""A child process for a step, and an error message if the system kills it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

from xmlc.core.memory import said_of_memory

PASSED_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux


def go_on_in_child(step: str) -> None:
    """Fork the process, and continue this program only in the child (on Linux).

    The parent passes signals on and ends with the exit status of the child. If a signal ends the
    child, the parent prints an error message.
    """
    if sys.platform != "linux":
        return
    parent = os.getpid()
    signals = {*PASSED_ON, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    child = os.fork()
    if child == 0:
        with suppress(OSError):
            ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if os.getppid() == parent:
            return
        os._exit(1)
    ended = 0
    while not ended:
        ended, code, usage = os.wait4(child, os.WNOHANG)
        if not ended:
            got = signal.sigwaitinfo(signals)
            # The terminal sends its signals to the child, too
            if got.si_signo in PASSED_ON and got.si_code <= 0:
                os.kill(child, got.si_signo)
    status = os.waitstatus_to_exitcode(code)
    if status >= 0:
        os._exit(status)
    if -status not in PASSED_ON:
        message = said_of_kill(step, -status, usage.ru_maxrss * 1024)
        with suppress(OSError):
            os.write(2, f"xmlc: error: {message}\n".encode())
    os._exit(128 - status)


def said_of_kill(step: str, number: int, peak: int) -> str:
    """Return a message with the signal that ended a step, its peak in bytes, and remedies."""
    name = f"signal {number}"
    if number in set(signal.Signals):
        name = signal.Signals(number).name
    if number != signal.SIGKILL:
        return f"{step}: {name} ended the process. It used up to {peak / 1e9:.2g} GB of memory."
    cause = f"possibly because memory ran out: {said_of_memory(peak)}"
    return f"{step}: {name} killed the process, {cause}"
