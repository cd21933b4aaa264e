"""Run a step in a child process, and print an error message if the system kills it."""

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

    The parent process passes signals on to the child process, and ends with the child's exit
    status. If a signal ends the child process, the parent prints an error message. This function
    does nothing on systems other than Linux.
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
            # The terminal sends its signals to the child, too.
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
    """Return a message with the signal that ended a step, and the step's peak memory in bytes.

    If SIGKILL ended the step, the message also contains remedies.
    """
    name = f"signal {number}"
    if number in set(signal.Signals):
        name = signal.Signals(number).name
    if number != signal.SIGKILL:
        return f"{step}: {name} ended the process. It used up to {peak / 1e9:.2g} GB of memory."
    cause = f"possibly because memory ran out: {said_of_memory(peak)}"
    return f"{step}: {name} killed the process, {cause}"
