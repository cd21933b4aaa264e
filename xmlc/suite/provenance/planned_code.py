"""Check that a job of the workflow runs the code with which it was planned.

Snakemake plans all jobs at the start of a run and compares the code of later runs with this plan.
If somebody edits a file while jobs wait or run, and restores it before the end, nothing would run
again, although some results are from the edited code. Rules therefore pass the planned digest to
each job, and the job compares it with the digest of its files. Only the steps that use an edited
file run again, and no step runs again after edits of comments, docstrings or layout.
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

#: The variable with the plan of a job as a JSON list: the digest, and the modules or files beyond
#: those of the step.
VARIABLE = "XMLC_PLANNED_CODE"
# The suffix of results that were kept although the code changed during the job.
ASIDE = ".other-code"
AGAIN = "Run the same command again, which plans with the present code"
# The options of steps whose value is a file or folder to write. Other words name inputs, such as a
# user's Python file.
OUTPUTS = ("--out", "--record", "--statistics", "--thresholds", "--calibration")


def planned_code(step: str, modules: Sequence[str] = ()) -> str:
    """Return the plan of a job for the variable `VARIABLE`.

    ``modules`` are, for example, those of its estimator.
    """
    return json.dumps([source_digest(step_files(step, *modules)), *modules])


@contextmanager
def as_planned(step: str, words: Sequence[str]) -> Iterator[None]:
    """Run a block only if the code of a step is the planned code, and keep its results aside if the
    code changes.

    Without the variable `VARIABLE`, for example if a user runs a step by hand, nothing is checked.

    Parameters
    ----------
    step : str
        The name of a command in `xmlc.suite.steps`.
    words : sequence of str
        The words of the command line, with the files and folders to write after the options
        `OUTPUTS`.

    Raises
    ------
    XmlcError
        The code is not the planned code, before or after the block.
    """
    plan = os.environ.pop(VARIABLE, "")
    if not plan:
        yield
        return
    digest, *modules = json.loads(plan)
    with suppress(ModuleNotFoundError):  # The command line reports a missing package.
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

    An edit of a comment does not count. A file counts that was written and has its old content, if
    it was not imported yet when the job began, because it may have been edited and restored.
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
    except (XmlcError, OSError):  # A file was deleted, or is no longer Python.
        return written
    return [
        path
        for path in written
        if path in imported_later and checksum_of(path) == imported_later[path]
    ]


def results_of(words: Sequence[str]) -> dict[Path, int]:
    """Return the existing files and folders that the options `OUTPUTS` of a command line name, and
    their inodes.

    A step replaces its results, which then have other inodes. It also writes files with a suffix,
    such as ``table2.csv`` for ``table2``.
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
    """Rename the results that a step wrote, so that nothing takes them for results of the planned
    code.

    Snakemake would delete them under their own names. Return the new names.
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
