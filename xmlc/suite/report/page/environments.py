"""Environments in which the numbers of a page were computed: settings, machine, versions and command."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypedDict

from xmlc.suite.results.environments import environment_columns
from xmlc.suite.results.records.base import RecordFile
from xmlc.suite.results.titles import method_title, model_title

SEED = re.compile(r"(?<=/seed)\d+(?=/)")
SPLITS = {"full": "the whole training set", "80": "80 % of the training set"}


class ShownEnvironment(TypedDict):
    """The environment of a run with some seeds: a title, pairs of name and text, and a command."""

    title: str
    lines: list[tuple[str, str]]
    command: str


class Environments:
    """Reference numbers of the runs on a page, in order of first use.

    A run is a group of records that differ only in the seed.
    """

    def __init__(self, records: Mapping[Path, RecordFile]):
        self._records = records
        self._numbers: dict[tuple[Path, ...], int] = {}

    def numbers(self, records: Iterable[Path]) -> list[int]:
        """Return the reference numbers of the records' runs. A run without a number gets the next one."""
        runs: dict[str, list[Path]] = {}
        for path in records:
            runs.setdefault(SEED.sub("", path.as_posix()), []).append(path)
        return [self._numbers.setdefault(tuple(run), len(self._numbers)) for run in runs.values()]

    @property
    def shown(self) -> list[ShownEnvironment]:
        """Return the environments of all runs with reference numbers, in the order of these numbers."""
        return [_shown({path: self._records[path] for path in run}) for run in self._numbers]


def _shown(records: Mapping[Path, RecordFile]) -> ShownEnvironment:
    first, record = next(iter(records.items()))
    abouts = [environment_columns(one) for one in records.values()]
    seeds = [str(getattr(one, "seed", "")) for one in records.values() if hasattr(one, "seed")]
    file = shlex.quote(first.as_posix())
    if len(seeds) > 1:
        # A shell expands the braces to the paths of all records.
        file = SEED.sub(f"{{{','.join(seeds)}}}", file)
    lines: dict[str, list[str]] = {
        "seed": [", ".join(seeds)],
        "record": [file],
    }
    for about in abouts:
        settings = json.loads(about.hyperparameters or "{}")
        texts = {
            "dataset": f"{record.dataset_name} (digest {about.digest[:12]})" if about.digest else "",
            "trained on": SPLITS.get(about.split, ""),
            "hyperparameters": ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None),
            "threads": str(about.threads or ""),
            "time of the step": "" if about.seconds is None else f"{about.seconds:.4g} s",
            "peak memory": "" if about.peak_mb is None else f"{about.peak_mb:.4g} MB",
            "machine": about.cpu,
            "versions": about.versions,
            "made": about.time[:10],
        }
        for name, text in texts.items():
            lines.setdefault(name, []).append(text)
    joined = [(name, "; ".join(dict.fromkeys(filter(None, texts)))) for name, texts in lines.items()]
    title = ", ".join(filter(None, [model_title(record.model_name), method_title(record.method_name)]))
    return ShownEnvironment(
        title=title or record.dataset_name,
        lines=[(name, text) for name, text in joined if text],
        command=f"snakemake --cores {abouts[0].threads or 1} --force {file}",
    )
