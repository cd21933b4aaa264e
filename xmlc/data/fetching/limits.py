"""How slow, long and large a download may be."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass

from xmlc.errors import XmlcError

CHUNK = 1 << 14


class TooSlow(Exception):
    """A server sends less than it must."""


@dataclass(frozen=True)
class Limits:
    """Beyond which a download is given up: a server that sends nothing, a few bytes, or without end.

    The key ``download`` of config.yaml.
    """

    #: Bytes a second, on average over the last ``seconds``.
    least_rate: float = 1000
    seconds: float = 20
    #: Hours for one file, all attempts together.
    hours: float = 6
    #: Gigabytes of one file.
    gigabytes: float = 64

    @property
    def chunk(self) -> int:
        """Bytes that are received at once: a server that is just fast enough sends some of these within ``seconds``."""
        return max(1, min(CHUNK, int(self.least_rate * self.seconds / 4)))

    def refuse_more(self, size: int) -> None:
        """Raise `XmlcError` if a file of ``size`` bytes is too large."""
        if size > self.gigabytes * 1e9:
            raise XmlcError(
                f"the file has more than {self.gigabytes:g} GB; if that is right, raise download.gigabytes in "
                "config/config.yaml (--limits)"
            )


USUAL = Limits()


class Watch:
    """The clock of one download.

    Parameters
    ----------
    limits : Limits
    """

    def __init__(self, limits: Limits):
        self.limits = limits
        self._ends = time.monotonic() + 3600 * limits.hours
        self.begin()

    def begin(self) -> None:
        """Begin an attempt: what came before does not count for the rate."""
        self._began = time.monotonic()
        self._received: deque[tuple[float, int]] = deque()
        self._bytes = 0

    def received(self, size: int) -> None:
        """Count bytes that have come."""
        self._received.append((time.monotonic(), size))
        self._bytes += size

    def check(self) -> None:
        """Raise `TooSlow` if too little has come of late, `XmlcError` if the time for the whole file is over."""
        now, limits = time.monotonic(), self.limits
        if now > self._ends:
            raise XmlcError(
                f"the download has taken more than {limits.hours:g} hours; the same command goes on, if the server "
                "can, and download.hours in config/config.yaml (--limits) allows more"
            )
        while self._received and self._received[0][0] < now - limits.seconds:
            self._bytes -= self._received.popleft()[1]
        if now - self._began >= limits.seconds and self._bytes + limits.chunk < limits.least_rate * limits.seconds:
            raise TooSlow(
                f"the server sent {self._bytes} bytes within {limits.seconds:g} seconds, expected "
                f"{limits.least_rate * limits.seconds:.0f} (download in config/config.yaml, --limits)"
            )

    @property
    def step(self) -> float:
        """Seconds after which to check again."""
        return min(1.0, self.limits.seconds / 10)
