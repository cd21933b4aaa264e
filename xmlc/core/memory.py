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
    """Return a message with a peak in bytes, the machine's memory, and remedies."""
    here = (
        f"it used up to {peak / 1e9:.2g} GB, and this machine has {machine_memory() / 1e9:.2g} GB "
        "for all processes"
    )
    return f"{here}. {remedies}"


def machine_memory(
    own: Path = Path("/proc/self/cgroup"), groups: Path = Path("/sys/fs/cgroup")
) -> int:
    """Return the bytes of memory of this machine, or the limit of its control groups."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for line in own.read_text(encoding="utf-8").splitlines() if own.exists() else ():
        _, kinds, path = line.split(":", 2)
        # Version 1 of control groups limits memory in a group of the kind "memory", and version 2
        # has no kinds. In a container, the path may be one of the host.
        if kinds in ("", "memory"):
            name = "memory.max"
            if kinds:
                name = "memory.limit_in_bytes"
            for group in (Path(kinds, path[1:]), *Path(kinds, path[1:]).parents):
                # The file with the limit may be missing, or contain `max`
                with suppress(OSError, ValueError):
                    found.append(int((groups / group / name).read_text(encoding="ascii")))
    return min(found)


def peak_bytes() -> int:
    """Return the largest resident memory so far, in bytes, of this process or of an ended child.

    Linux resets VmHWM, the peak of this process, for each program. In ``getrusage``, a child starts
    with the peak of its parent, which is at most VmHWM, so the larger value is right.
    """
    return max(own_peak_bytes(), PEAK_UNIT * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)


def own_peak_bytes() -> int:
    """Return the largest resident memory of this process, in bytes."""
    peak = system_entry("/proc/self/status", "VmHWM:").removesuffix("kB")
    if peak:
        return 1024 * int(peak)
    return PEAK_UNIT * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def system_entry(file: str, name: str) -> str:
    """Return the value of a line of a Linux system file that begins with ``name``, or ""."""
    with suppress(OSError), open(file, encoding="utf-8") as lines:
        return next((line.partition(":")[2].strip() for line in lines if line.startswith(name)), "")
    return ""
