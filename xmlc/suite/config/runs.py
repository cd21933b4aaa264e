"""The begin and end of a run."""

from __future__ import annotations

import math
import os
import re
import shutil
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Self

import msgspec
import yaml

from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json, remove_leftovers, write_json
from xmlc.suite.config import paths
from xmlc.suite.config.folders import config_folder
from xmlc.suite.config.project import Project
from xmlc.suite.config.settings import read_config
from xmlc.suite.provenance.damage import message_of
from xmlc.suite.results.manifest import in_project
from xmlc.suite.schemas import read_yaml

LAST_RUN = Path(".snakemake/last-run.json")


@dataclass
class LastRun:
    """A note about the last run in a folder.

    ``settings`` are those on the command line that differ from config.yaml, ``files`` the outputs
    of all jobs, and ``process`` is Snakemake's process id.
    """

    settings: dict[str, object] = field(default_factory=dict)
    targets: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    host: str = ""
    process: int = 0
    ended: bool = True

    @classmethod
    def read(cls) -> Self:
        """Read the note, which is empty if it is missing or damaged."""
        with suppress(FileNotFoundError, ValueError, msgspec.ValidationError):
            return msgspec.convert(read_json(LAST_RUN), cls)
        return cls()

    def write(self) -> None:
        """Save the note for `xmlc status`."""
        write_json(LAST_RUN, vars(self))

    @property
    def about(self) -> str:
        """Return date, targets and settings as text, or ""."""
        settings = [
            f"{key}={yaml.safe_dump([value], default_flow_style=True, width=math.inf)[1:-2]}"
            for key, value in self.settings.items()
        ]
        words = " ".join([*self.targets, *settings])
        if not words:
            return ""
        date = datetime.fromtimestamp(LAST_RUN.stat().st_mtime).astimezone()
        return f"last run, {date:%Y-%m-%d %H:%M}: {words}"


@contextmanager
def in_one_line() -> Iterator[None]:
    """End the process with the message of an `XmlcError`, without a traceback.

    Snakemake may raise another error with the original as context.
    """
    try:
        yield
    except Exception as error:
        cause = error if isinstance(error, XmlcError) else error.__context__
        if not isinstance(cause, XmlcError):
            raise
        sys.exit(f"xmlc: error: {message_of(cause)}")


@in_one_line()
def check_settings(files: Iterable[Path], settings: Sequence[str]) -> None:
    """End the process if Snakemake would misread config.yaml, ``--configfile`` or ``--config``."""
    for file in files:
        if file.suffix in (".yaml", ".yml"):
            read_yaml(file)
    read_config(config_folder() / "config.yaml", settings)


def begin(
    config: Mapping[str, object], project: Project, targets: Iterable[str], files: Iterable[Path]
) -> None:
    """Save a note for `xmlc status`, and remove unfinished files of killed runs.

    No other run can be writing them, because Snakemake has locked the folder. ``files`` are the
    outputs of all jobs.
    """
    file = config_folder() / "config.yaml"
    usual = read_config(file) if file.is_file() else {}
    options = {key: value for key, value in config.items() if value != usual.get(key)}
    made = sorted(map(in_project, files))
    LastRun(
        options, [*map(str, targets)], made, socket.gethostname(), os.getpid(), ended=False
    ).write()
    for folder in paths.MADE:
        sweep(folder)
    # A killed run may have left a model that is not kept.
    for pattern in (paths.TEMPORARY, paths.TRIAL_OF_TUNING, paths.TRIAL_OF_SWEEP):
        for temporary in Path().glob(re.sub(r"\{\w+\}", "*", pattern)):
            shutil.rmtree(temporary, ignore_errors=True)


def end() -> None:
    """Note that the run has ended, with or without errors."""
    replace(LastRun.read(), ended=True).write()


def sweep(folder: str | os.PathLike[str]) -> None:
    """Remove temporary and replaced files of processes that have ended."""
    for place, folders, _ in os.walk(folder):
        kept = remove_leftovers(Path(place))
        folders[:] = [name for name in folders if name not in kept]


def made_by(project: Project) -> str:
    """Return lines about commands and folders of results."""
    lines = []
    for name in project.suites:
        if any(Path(paths.TABLES, name).glob("*.md")):
            lines.append(f"tables: xmlc show {paths.TABLES}/{name}/*.md")
            figures = Path(paths.FIGURES, name)
            if figures.is_dir():
                lines[-1] += f", figures: {figures}/"
    if lines:
        lines.append("report: xmlc report writes pages of all finished results")
    return "\n".join(lines)


def trained_again(made: Iterable[str]) -> list[str]:
    """Return a remark on deleted models that a run trains again."""
    again = [
        path
        for path in made
        if paths.TEMPORARY.read(path) and Path(path).with_name("train.json").exists()
    ]
    if not again:
        return []
    why = "because they and their estimates were deleted (`keep_models`)"
    return [f"models that are trained again, {why}: {len(again)}"]
