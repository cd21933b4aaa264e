"""Run the code blocks of a page as printed, and return what they print."""

import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Step(NamedTuple):
    """A block of a page that is not output."""

    language: str
    code: str
    shown: str | None  # the output that the page shows below the block


def steps(page):
    """Return the blocks of a page in order, each with the block of output below it."""
    found = []
    for language, code in FENCE.findall(page):
        if language == "text":
            found[-1] = found[-1]._replace(shown=code)
        else:
            found.append(Step(language, code, None))
    return found


def blocks(page, language="python"):
    """Return the blocks of a page in one language."""
    return [code for name, code in FENCE.findall(page) if name == language]


def run_python(code, names):
    """Run Python code with these global names, and return what it prints."""
    with redirect_stdout(StringIO()) as out:
        exec(code, names)
    return out.getvalue()


def run_bash(commands, folder, environment=os.environ, status=0, messages=False):
    """Run commands in a folder, check their exit status, and return what they print, if asked with
    their messages.
    """
    path = os.pathsep.join((str(Path(sys.executable).parent), environment["PATH"]))
    done = subprocess.run(
        ["bash", "-ec", commands],
        cwd=folder,
        env=environment | {"PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr if messages else done.stdout
