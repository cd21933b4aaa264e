"""A check that a job of the workflow runs the code with which it was planned.

Snakemake plans all jobs at the start of a run. If somebody edits a file while jobs wait or run, and
restores it before the end, nothing would run again, although some results are from the edited code.
So rules pass the planned digest to each job, which compares it with its files. Edits of comments,
docstrings or layout do not count.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from glob import escape, glob
from itertools import pairwise
from pathlib import Path

from xmlc.core.checksums import State, checksum_of, state_of
from xmlc.core.errors import XmlcError
from xmlc.core.sources import source_digest
from xmlc.suite.provenance.code import step_files
from xmlc.suite.provenance.sources import forget_sources

#: The variable with a job's plan as JSON: the digest, and modules or files beyond the step's
VARIABLE = "XMLC_PLANNED_CODE"
# Suffix of results that were kept although the code changed during the job
ASIDE = ".other-code"
AGAIN = "Run the same command again, which plans with the present code"
# Options whose value is a file or folder to write, unlike inputs, such as a user's Python file
OUTPUTS = ("--out", "--record", "--statistics", "--thresholds", "--calibration")


def planned_code(step: str, modules: Sequence[str] = ()) -> str:
    """Return the plan of a job for `VARIABLE`, with further modules such as its estimator's."""
    return json.dumps([source_digest(step_files(step, *modules)), *modules])


@contextmanager
def as_planned(step: str, words: Sequence[str]) -> Iterator[None]:
    """Run a block only if the code of a step is the planned code, before and after it.

    If the code changes during the block, its results, which follow the options `OUTPUTS` in
    ``words``, are kept aside. Without `VARIABLE`, for example if a user runs a step by hand,
    nothing is checked.
    """
    plan = os.environ.pop(VARIABLE, "")
    if not plan:
        yield
        return
    digest, *modules = json.loads(plan)
    with suppress(ModuleNotFoundError):  # the command line reports a missing package
        importlib.import_module(f"xmlc.suite.steps.{step}")
    paths = step_files(step, *modules)
    found = source_digest(paths)
    if found != digest:
        last = max(paths, key=os.path.getmtime)
        raise XmlcError(
            f"{step}: the code was edited after this job was planned: found digest {found}, "
            f"expected {digest}. The last edited file is {last}. Nothing was computed. {AGAIN}"
        )
    before = {path: state_of(path) for path in paths}
    results = results_of(words)
    loaded = {
        os.path.realpath(getattr(module, "__file__", None) or "")
        for module in [*sys.modules.values()]
    }
    imported_later = {
        path: checksum_of(path) for path in paths if os.path.realpath(path) not in loaded
    }
    yield
    edited = _edited(step, modules, digest, before, imported_later)
    if edited:
        kept = keep_aside(words, results)
        where = ""
        if kept:
            where = f"The results are kept as {', '.join(kept)}, but are not used. "
        raise XmlcError(f"{step}: {', '.join(edited)} changed while this job ran. {where}{AGAIN}")


def _edited(
    step: str,
    modules: Sequence[str],
    digest: str,
    before: dict[str, State],
    imported_later: dict[str, str],
) -> list[str]:
    """Return the files with which a job may have computed something else than planned.

    A file with its old content counts if it was written again and not imported when the job began,
    because it may have been edited and restored.
    """
    written = [
        path
        for path, state in before.items()
        if not os.path.exists(path) or state_of(path) != state
    ]
    if not written:
        return []
    forget_sources()
    try:
        if source_digest(step_files(step, *modules)) != digest:
            return written
    except (XmlcError, OSError):  # deleted, or no longer Python
        return written
    return [
        path
        for path in written
        if path in imported_later and checksum_of(path) == imported_later[path]
    ]


def results_of(words: Sequence[str]) -> dict[Path, int]:
    """Return the existing outputs that a command line names, with their inodes.

    A step replaces its results, which then have other inodes, and may add a suffix, such as
    ``table2.csv`` for ``table2``.
    """
    inodes = {}
    for option, word in pairwise(words):
        if option not in OUTPUTS:
            continue
        for path in (word, *glob(f"{escape(word)}.*")):
            if os.path.exists(path) and not path.endswith(ASIDE):
                inodes[Path(path)] = os.stat(path).st_ino
    return inodes


def keep_aside(words: Sequence[str], before: Mapping[Path, int]) -> list[str]:
    """Rename the results of a step, so that nothing takes them for planned ones, and return the new
    names.

    Under their old names, Snakemake would delete them.
    """
    kept = []
    for path, inode in results_of(words).items():
        if before.get(path) != inode:
            aside = path.with_name(path.name + ASIDE)
            if aside.is_dir():
                shutil.rmtree(aside)
            os.replace(path, aside)
            kept.append(str(aside))
    return kept
