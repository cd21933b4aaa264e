"""Run a step in a child process. If the system kills the child process, the parent prints an error message."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

from xmlc.core.memory import said_of_memory

PASSED_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
SET_DEATH_SIGNAL = 1  # This number is the constant PR_SET_PDEATHSIG of Linux.


def go_on_in_child(step: str) -> None:
    """Fork the process, and continue this program only in the child process.

    The parent process passes signals on to the child process, and ends with the child's exit status. If a signal ends
    the child process, the parent prints an error message. This function does nothing on systems other than Linux.
    """
    if sys.platform != "linux":
        return
    parent, signals = os.getpid(), {*PASSED_ON, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    if (child := os.fork()) == 0:
        with suppress(OSError):
            ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if os.getppid() == parent:
            return
        os._exit(1)
    while not (ended := os.wait4(child, os.WNOHANG))[0]:
        got = signal.sigwaitinfo(signals)
        if got.si_signo in PASSED_ON and got.si_code <= 0:  # The terminal sends its signals to the child, too.
            os.kill(child, got.si_signo)
    status = os.waitstatus_to_exitcode(ended[1])
    if status < 0 and -status not in PASSED_ON:
        with suppress(OSError):
            os.write(2, f"xmlc: error: {said_of_kill(step, -status, ended[2].ru_maxrss * 1024)}\n".encode())
    os._exit(status if status >= 0 else 128 - status)


def said_of_kill(step: str, number: int, peak: int) -> str:
    """Return a message with the signal that ended a step, and with the step's peak memory (``peak``, bytes).

    If the step was ended by SIGKILL, the message also contains remedies.
    """
    name = signal.Signals(number).name if number in {*signal.Signals} else f"signal {number}"
    if number != signal.SIGKILL:
        return f"{step}: {name} ended the process. It used up to {peak / 1e9:.2g} GB of memory."
    return f"{step}: {name} killed the process, possibly because memory ran out: {said_of_memory(peak)}"
