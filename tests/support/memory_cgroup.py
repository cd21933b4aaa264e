"""Run a program in a control group of Linux with a limit on its memory, which counts the pages of
files that it reads.

A control group needs the rights of root, and a system that mounts the memory controller (version 1
or 2).
"""

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

# Maps the folder of the memory controller to two files of a group: the limit, and how often the
# limit was reached.
CONTROLLERS = {
    Path("/sys/fs/cgroup/memory"): ("memory.limit_in_bytes", "memory.failcnt"),
    Path("/sys/fs/cgroup"): ("memory.max", "memory.events"),
}
JOIN = 'echo $$ > "$0" && exec "$@"'


@contextmanager
def _group():
    """Make a control group for a block, and yield its folder and its two files, or yield None if
    that is impossible.
    """
    for controller, names in CONTROLLERS.items():
        group = controller / f"xmlc-tests-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            limit, reached = (group / name for name in names)
            if os.access(limit, os.W_OK):
                yield group, limit, reached
                return
        finally:
            group.rmdir()
    yield None


def can_limit():
    """Return whether a program can be run with a limit on its memory."""
    with _group() as group:
        return group is not None


def run_limited(words, most):
    """Run a program with at most ``most`` bytes of memory.

    Return the completed process, and how often the program reached the limit.
    """
    with _group() as (group, limit, reached):
        limit.write_text(str(most))
        join = ["sh", "-c", JOIN, str(group / "cgroup.procs")]
        done = subprocess.run([*join, *words], capture_output=True, text=True, check=False)
        return done, _count(reached.read_text())


def _count(text):
    """Return the number in memory.failcnt, or the number of the line ``max`` of memory.events."""
    counts = dict(line.split() for line in text.splitlines() if " " in line)
    return int(counts.get("max", text.strip() if not counts else 0))


def forget(folder):
    """Remove the files of a folder from the page cache, so that the next reader is charged for its
    pages.
    """
    for file in filter(Path.is_file, folder.rglob("*")):
        with file.open("rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
