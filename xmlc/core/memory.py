"""The memory of this process and of this machine, and messages about a lack of it."""

from __future__ import annotations

import os
import resource
import sys
from contextlib import suppress
from pathlib import Path

OF_STEPS = (
    "Run fewer jobs at a time (snakemake --cores 1, or --resources mem_mb= with less memory than "
    "is free), use fewer threads in each job (--config threads=1: forests grow one tree per "
    "thread), or leave out the model or the dataset (--config models= or datasets=). snakemake "
    "--dry-run estimates the memory of the largest jobs."
)
OF_FILES = (
    "Use fewer --threads, fewer texts, or a smaller model, such as --parameters "
    "'{\"weight_threshold\": 0.2}'."
)

PEAK_UNIT = 1024  # bytes of one unit of ``ru_maxrss``
if sys.platform == "darwin":
    PEAK_UNIT = 1


def said_of_memory(peak: float, remedies: str = OF_STEPS) -> str:
    """Return a message with a process's peak memory (``peak``, bytes), the machine's memory, and
    remedies.
    """
    here = (
        f"it used up to {peak / 1e9:.2g} GB, and this machine has {machine_memory() / 1e9:.2g} GB "
        "for all processes"
    )
    return f"{here}. {remedies}"


def machine_memory(
    own: Path = Path("/proc/self/cgroup"), groups: Path = Path("/sys/fs/cgroup")
) -> int:
    """Return the bytes of memory of this machine, or of this process's control groups if their
    limit is lower.
    """
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for line in own.read_text(encoding="utf-8").splitlines() if own.exists() else ():
        _, kinds, path = line.split(":", 2)
        # In version 1 of Linux's control groups, the group that limits memory has the kind
        # "memory". In version 2, Linux's control groups have no kind. In a container, the path of
        # the control group may be a path of the host.
        if kinds in ("", "memory"):
            name = "memory.max"
            if kinds:
                name = "memory.limit_in_bytes"
            for group in (Path(kinds, path[1:]), *Path(kinds, path[1:]).parents):
                # The file with the memory limit may be missing, or contain `max`.
                with suppress(OSError, ValueError):
                    found.append(int((groups / group / name).read_text(encoding="ascii")))
    return min(found)


def peak_bytes() -> int:
    """Return the largest resident memory so far, in bytes, of this process or of an ended child.

    The peak of this process is VmHWM, which Linux resets for each program. The peak of ended
    children is from ``getrusage``, in which a child starts with the peak of its parent. The larger
    of both peaks is correct, because a child starts with at most the peak of this process.
    """
    return max(own_peak_bytes(), PEAK_UNIT * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def own_peak_bytes() -> int:
    """Return the largest resident memory of this process so far, in bytes."""
    peak = system_entry("/proc/self/status", "VmHWM:").removesuffix("kB")
    if peak:
        return 1024 * int(peak)
    return PEAK_UNIT * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def system_entry(file: str, name: str) -> str:
    """Return the value in the first line of a Linux system file that begins with ``name``, or "" if
    no line does.
    """
    with suppress(OSError), open(file, encoding="utf-8") as lines:
        return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
    return ""
