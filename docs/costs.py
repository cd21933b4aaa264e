"""Print what each paper's suite costs at full size, as planned, for the section of `docs/costs.md`. See `make costs`.

Snakemake lists the jobs of each suite (`snakemake -n`) in an empty folder, where nothing is downloaded or made yet,
with what each of them requests by the laws of `xmlc.planning` and the sizes that the catalogue prints.
"""

from __future__ import annotations

import importlib.util
import math
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

from xmlc.planning.estimators import trained
from xmlc.planning.shape import Shape
from xmlc.schemas.reading import read_yaml
from xmlc.suites.project import Project
from xmlc.suites.resources import GAIN, shape_of

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/costs.md"
SUITES = ("plt2016", "gfm2011", "swnn2018", "ldsm2020", "oplt2021")
BEGIN, END = "<!-- begin full size -->\n", "<!-- end full size -->\n"
UNLIMITED = 10**9  # MB, so that no request is lowered
TEXT, ARRAYS, LABEL = 12.0, 8.0, 12.0  # bytes of a non-zero as text and in arrays; of a label in both
MODEL = re.compile(r"results/([^/]+)/([^/]+)/seed\d+/(full|80)/model\b")
LONG = 10.0  # seconds: shorter jobs are mostly the start of a process


class Planned(NamedTuple):
    """A job: its suite, whose it is, how often one process does the same, processor seconds of all, and MB."""

    suite: str
    dataset: str
    model: str
    models: tuple[tuple[str, str, str], ...]
    seconds: float
    mb: float


def planned(suite: str, folder: Path) -> Iterator[Planned]:
    """List the jobs of a suite."""
    command = ["-m", "snakemake", suite, "--cores", "2", "-n", "-p", "--resources", f"mem_mb={UNLIMITED}"]
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"snakemake {suite}: {(done.stdout + done.stderr)[-2000:]}")
    for block in re.split(r"^(?:local)?rule ", done.stdout + done.stderr, flags=re.MULTILINE)[1:]:
        seconds = re.search(r"cpu_seconds=(\d+)", block)
        if seconds is None:
            continue
        lines = {name: text for name, _, text in (line.strip().partition(": ") for line in block.splitlines())}
        about = dict(pair.split("=", 1) for pair in lines.get("wildcards", "").split(", ") if "=" in pair)
        seeds = len({*re.findall(r"/seed(\d+)/", lines.get("output", ""))}) or 1
        megabytes = re.search(r"mem_mb=(\d+)", block)
        yield Planned(
            suite,
            about.get("dataset", ""),
            about.get("model", ""),
            tuple(MODEL.findall(lines.get("output", ""))),
            seeds * float(seconds[1]),
            float(megabytes[1]) if megabytes else 0.0,
        )


def disk_gb(project: Project, jobs: Iterable[Planned]) -> float:
    """Return the GB of text, arrays and models, without estimates."""
    jobs = list(jobs)
    shapes = {job.dataset: shape_of(project, job.dataset) for job in jobs if job.dataset}
    data = sum(_data_bytes(shape) for shape in shapes.values())
    models = sum(_model_bytes(project, shapes[name], name, *which) for job in jobs for name, *which in job.models)
    return (data + models) / 1e9


def _data_bytes(shape: Shape) -> float:
    instances = shape.n_train + shape.n_test
    return instances * ((TEXT + ARRAYS) * shape.nonzeros + LABEL * shape.labels_per_instance)


def _model_bytes(project: Project, shape: Shape, dataset: str, model: str, portion: str) -> float:
    spec = project.models[model]
    share = 1 - project.settings.validation_share if portion == "80" else 1.0
    return trained(spec.estimator, spec.values_on(dataset), shape.sampled(share)).model_bytes


def errors() -> list[str]:
    """Say how far plans were from what jobs took, by docs/resources/jobs.csv: those that took long."""
    spec = importlib.util.spec_from_file_location("docs_resources", ROOT / "docs/resources.py")
    assert spec is not None
    assert spec.loader is not None
    resources = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(resources)
    jobs = resources.measured()
    times = sorted(job.time for job in jobs if job.used_seconds and job.used_seconds > LONG)
    large = sorted(job.memory for job in jobs if job.used_mb > 1000)
    return [
        f"Errors of the plans, planned over used: {times[0]:.2f} to {times[-1]:.2f} of the processor seconds of "
        f"{len(times)} measured jobs of more than {LONG:.0f} s",
        f"(median {times[len(times) // 2]:.2f}), {large[0]:.2f} to {large[-1]:.2f} of the memory of {len(large)} jobs "
        f"above 1 GB (median {large[len(large) // 2]:.2f}).",
    ]


def row(title: str, jobs: list[Planned], disk: str) -> str:
    """Return a line: jobs, processor hours, wall hours on two cores, peak GB, GB on disk."""
    hours = math.fsum(job.seconds for job in jobs) / 3600
    peak = max(job.mb for job in jobs) / 1000
    return f"| {title} | {len(jobs)} | {number(hours)} | {number(hours / (1 + GAIN))} | {number(peak)} | {disk} |"


def number(value: float) -> str:
    """Return two digits of a number."""
    return f"{value:.2g}" if value < 10 else f"{float(f'{value:.2g}'):,.0f}"


def section() -> str:
    """Return the section."""
    project = Project.read(read_yaml(ROOT / "config/config.yaml"), ROOT / "config")
    # Sizes on disk are computed in the empty folder too: where data are prepared, they would be the counted ones.
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name in ("config", "workflow", "profiles"):
            shutil.copytree(ROOT / name, Path(folder) / name)
        shutil.copy(ROOT / "Snakefile", folder)
        by_suite = {suite: list(planned(suite, Path(folder))) for suite in SUITES}
        on_disk = {suite: number(disk_gb(project, jobs)) for suite, jobs in by_suite.items()}
    lines = [
        "| suite | model | jobs | processor hours | hours on 2 cores | peak GB | GB on disk |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for suite, jobs in by_suite.items():
        lines.append(row(f"**`{suite}`** | all", jobs, on_disk[suite]))
        for model in sorted({job.model for job in jobs} - {""}):  # Snakemake lists jobs in no order of its own
            own = [job for job in jobs if job.model == model]
            lines.append(row(f"`{suite}` | `{model}`", own, "–"))
    return "\n".join([*lines, "", *errors()]) + "\n"


def page(text: str, found: str) -> str:
    """Return the page with the section between its marks."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + found + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), section()), encoding="utf-8")
