"""Find the memory that a process may use, and write messages about a lack of memory."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

OF_STEPS = (
    "Run fewer jobs at a time (snakemake --cores 1, or --resources mem_mb= with less memory than is free), use fewer "
    "threads in each job (--config threads=1: forests grow one tree per thread), or leave out the model or the dataset "
    "(--config models= or datasets=). snakemake --dry-run estimates the memory of the largest jobs."
)
OF_FILES = "Use fewer --threads, fewer texts, or a smaller model, such as --parameters '{\"weight_threshold\": 0.2}'."


def said_of_memory(peak: float, remedies: str = OF_STEPS) -> str:
    """Return a message with a process's peak memory (``peak``, bytes), the machine's memory, and remedies."""
    here = f"it used up to {peak / 1e9:.2g} GB, and this machine has {machine_memory() / 1e9:.2g} GB for all processes"
    return f"{here}. {remedies}"


def machine_memory(own: Path = Path("/proc/self/cgroup"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the bytes of memory of this machine, or of this process's control groups if their limit is lower."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for line in own.read_text(encoding="utf-8").splitlines() if own.exists() else ():
        _, kinds, path = line.split(":", 2)
        # In version 1 of Linux's control groups, the group that limits memory has the kind "memory". In version 2,
        # Linux's control groups have no kind. In a container, the path of the control group may be a path of the host.
        if kinds in ("", "memory"):
            name = "memory.limit_in_bytes" if kinds else "memory.max"
            for group in (Path(kinds, path[1:]), *Path(kinds, path[1:]).parents):
                with suppress(OSError, ValueError):  # The file with the memory limit may be missing, or contain `max`.
                    found.append(int((groups / group / name).read_text(encoding="ascii")))
    return min(found)
