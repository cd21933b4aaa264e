"""A headless Chromium, driven over its debugging pipe: JSON messages that end with a NUL byte."""

import json
import os
import select
import subprocess
import tempfile
import time
from contextlib import contextmanager

from needs import require

FLAGS = (
    "headless no-sandbox disable-gpu disable-quic no-first-run no-default-browser-check disable-background-networking"
    " disable-component-update disable-sync disable-default-apps disable-extensions hide-scrollbars"
    " remote-debugging-pipe"
)
SECONDS = 60


class Browser:
    """One page of a browser: commands, and every event that it reported.

    Parameters
    ----------
    process : Popen
    read, write : int
        Our ends of its pipes.
    """

    def __init__(self, process, read, write):
        self.process, self._read, self._write = process, read, write
        self._rest, self._number, self.session, self.events = b"", 0, None, []
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.command(f"{domain}.enable")

    def command(self, method, **parameters):
        """Send one command and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(SECONDS)
            if answer is None:
                raise TimeoutError(f"{method}: the browser did not answer within {SECONDS} s")
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self, seconds):
        """The next message, or None if there is none for so long; an event is kept too."""
        end = time.monotonic() + seconds
        while b"\0" not in self._rest:
            if not select.select([self._read], [], [], max(0, end - time.monotonic()))[0]:
                return None
            piece = os.read(self._read, 1 << 16)
            assert piece, f"the browser ended with status {self.process.poll()}"
            self._rest += piece
        text, _, self._rest = self._rest.partition(b"\0")
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, url):
        """Load a page, wait until it is whole."""
        seen = len(self.events)
        self.command("Page.navigate", url=url)
        end = time.monotonic() + SECONDS
        while not any(event["method"] == "Page.loadEventFired" for event in self.events[seen:]):
            assert time.monotonic() < end, f"{url} did not load within {SECONDS} s"
            self._next(1)

    def run(self, script):
        """The value of an expression in the page; an exception there is one here."""
        found = self.command("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, key):
        """Press and release one key."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27}
        common = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        self.command("Input.dispatchKeyEvent", type="keyDown", **common, **({"text": "\r"} if key == "Enter" else {}))
        self.command("Input.dispatchKeyEvent", type="keyUp", **common)

    def point(self, x, y, click=False):
        """Move the mouse there, and click if asked to."""
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        for kind in ("mousePressed", "mouseReleased") if click else ():
            self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def resize(self, width, height):
        """Give the page another size."""
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def complaints(self):
        """What the page wrote on the console as a warning or an error, and exceptions that nobody caught."""
        found = [event["params"] for event in self.events if event["method"] == "Runtime.exceptionThrown"]
        for event in self.events:
            if event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning"):
                found.append(event["params"])
            if event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] in ("error", "warning"):
                found.append(event["params"]["entry"])
        return found

    def requests(self):
        """The addresses of everything that the page asked for."""
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]


@contextmanager
def open_browser():
    """Start a browser with a profile of its own; it ends with the block."""
    program = require("browser")
    (its_read, our_write), (our_read, its_write) = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The browser reads from descriptor 3 and writes to 4; a shell puts ours there.
        flags = [f"--{flag}" for flag in FLAGS.split()]
        line = f'exec "$0" "$@" 3<&{its_read} 4>&{its_write}'
        process = subprocess.Popen(
            ["bash", "-c", line, program, *flags, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(its_read, its_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(its_read)
        os.close(its_write)
        try:
            yield Browser(process, our_read, our_write)
        finally:
            process.terminate()
            process.wait(SECONDS)
            os.close(our_read)
            os.close(our_write)
