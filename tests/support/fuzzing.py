"""What the fuzzers share: seeded mutations, how many of them, and a limit for each."""

import os
import random
import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path

SECONDS = 10  # for one input of some hundred bytes
NASTY = [
    *("", " ", "\t", "\n", "\n\n", "\r", "\r\n", "\r\r\n"),
    *",:|#'\"{}?%\\\0",
    *("-1", "+1", "1.", ".5", "1e", "1e5", "1e39", "1e-50", "nan", "inf", "0x1", "1_0", "00", "0:0", "1:1:1", "3:0"),
    *("0", "0,0", "2147483647", "2147483648", "67108863", "99999999999999999999", "3.4028235677973366e38"),
    *("1" * 30 + "e-20", "0.1000000000000000055511151231257827"),
    *("\u00b2", "\u0661", "\u00a0", "\u2028", "\x0b", "\x0c", "\x1c", "\ufeff"),  # digits and spaces to Unicode
]


def count(default):
    """Return how many mutations to try: FUZZ in the environment, as `make fuzz N=` sets it, or what CI has time for."""
    return int(os.environ.get("FUZZ") or default)


def more_than_in_ci():
    """Return whether `make fuzz` is running, and not what CI has time for."""
    return bool(os.environ.get("FUZZ"))


@contextmanager
def folder_in_memory():
    """Give a folder for files that are written and read thousands of times, in memory where that can be had."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="xmlc-fuzz-", dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


def mutations(inputs, number):
    """Give so many mutated copies of inputs, each a tuple of files; the same ones each time."""
    rng = random.Random(0)
    nasty = [token.encode() for token in NASTY]
    for _ in range(number):
        files = list(rng.choice(inputs))
        for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
            place = rng.randrange(len(files))
            files[place] = _mutated(files[place], rng, nasty)
        yield tuple(files)


def _mutated(content, rng, nasty):
    at, end = sorted((rng.randint(0, len(content)), rng.randint(0, len(content))))
    kind = rng.randrange(9)
    if kind == 0 and content:  # one bit
        at = rng.randrange(len(content))
        return content[:at] + bytes([content[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :]
    if kind == 1 and content:  # one byte
        at = rng.randrange(len(content))
        return content[:at] + rng.randbytes(1) + content[at + 1 :]
    if kind == 2:  # a few bytes less
        return content[:at] + content[at + rng.randint(1, 6) :]
    if kind == 3:  # a span twice
        return content[:end] + content[at:]
    if kind == 4:  # cut off
        return content[:end]
    if kind == 5:  # lines in another order, one missing or one twice
        lines = content.splitlines(keepends=True)
        one, other = rng.randrange(len(lines) + 1), rng.randrange(len(lines) + 1)
        return b"".join(lines[:one] + lines[other:]) if rng.random() < 0.5 else b"".join(lines[other:] + lines[:other])
    token = rng.choice(nasty)
    return content[:at] + token + content[at + (len(token) if kind == 6 else 0) :]  # over what is there, or between


@contextmanager
def limited_time():
    """Give a function to call before each input; fail where one takes longer than any may."""

    def hang(signum, frame):
        raise AssertionError(f"more than {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, hang)
    try:
        yield lambda: signal.setitimer(signal.ITIMER_REAL, SECONDS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
