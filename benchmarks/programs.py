"""Programs with default settings, compared in fresh processes on one thread."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy import sparse

from benchmarks.commands import group
from benchmarks.fresh import PROGRAMS, TOP
from benchmarks.harness import (
    CPU_TIME,
    PERCENT,
    POINTS,
    PREDICTION,
    ROOT,
    TRAINING,
    Data,
    Report,
    write_report,
)
from benchmarks.render import markdown
from xmlc.cli.options import FILE, FOLDER
from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.core.threads import set_process_threads
from xmlc.kernels.unit_length import unit_rows
from xmlc.metrics import (
    ece_at_k,
    instance_f,
    macro_f,
    micro_f,
    ndcg_at_k,
    precision_at_k,
    propensities,
    psp_at_k,
)
from xmlc.metrics.propensity import propensity_parameters
from xmlc.metrics.resampling import REPLICATES, draws
from xmlc.suite.provenance.environment import commit
from xmlc.thresholds import LabelSets, priors
from xmlc.thresholds.label_sets import SetMeasure

# Arguments of `pip install`. PECOS needs torch only for its transformers.
ENVIRONMENTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "PECOS": (
        ("numpy==1.26.4", "scipy==1.13.1", "scikit-learn==1.9.1"),
        ("--no-deps", "libpecos==1.2.8"),
    ),
    "LibMultiLabel": (
        ("libmultilabel==0.10.0", "liblinear-multicore==2.50.0", "sparsekmeans==0.3.1"),
    ),
}
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "RAYON")}
MACRO = partial(macro_f, average="present")
MEASURES: dict[str, tuple[SetMeasure, Callable[..., float]]] = {
    "macro-F": ("macro_f", MACRO), "micro-F": ("micro_f", micro_f),
    "instance-F": ("instance_f", instance_f),
}  # fmt: skip
NAMED = "Program to run again; repeatable.  [default: all programs that have no results]"
SETS = "sets of predict"
CHOSEN = "sets of LabelSets"
AHEAD = "nDCG@5 of Stacking minus this"
COSTS = {  # task, measure, unit and column of each name in costs.json
    "train_s": (TRAINING, CPU_TIME, "s", "train, s"),
    "row_ms": (PREDICTION, CPU_TIME, "ms per instance", "row, ms"),
    "request_ms": ("single request", CPU_TIME, "ms per instance", "request, ms"),
    "model_mb": (TRAINING, "model", "MB", "MB"),
    "peak_mb": (TRAINING, "peak memory", "MB", "peak MB"),
}
QUALITIES = {  # task and measure of each column of the printed tables
    **{name: (PREDICTION, name) for name in ("P@1", "P@3", "P@5", "nDCG@5")},
    "Stacking's lead": (PREDICTION, AHEAD),
    **{name: (PREDICTION, name) for name in ("PSP@5", "ECE@1")},
    **{name: (SETS, name) for name in MEASURES},
    **{f"{name}, chosen": (CHOSEN, name) for name in MEASURES},
}
SPENT = {column: (task, measure) for task, measure, _, column in COSTS.values()}
Scores = dict[tuple[str, str], float]  # by task and measure
Sets = dict[tuple[str, str], sparse.csr_array]


@group.command("programs", help="Compare programs with default settings, on one thread.")
@click.option(
    "--data",
    "folders",
    type=FOLDER,
    multiple=True,
    required=True,
    help="Prepared dataset; repeatable.",
)
@click.option("--program", "named", type=click.Choice(list(PROGRAMS)), multiple=True, help=NAMED)
@click.option("--out", type=FILE, help="CSV file to write.")
def bench_programs(folders: Sequence[Path], named: Sequence[str], out: Path | None) -> None:
    """Run programs, score their answers, print the tables, and write the rows."""
    set_process_threads(1)
    whole = Report("programs", "", "")
    for folder in folders:
        answers = folder.parent / "programs"
        data = Data.read(folder)
        data = Data(data.name, unit_rows(data.X), data.Y, unit_rows(data.X_test), data.Y_test)
        done = [name for name in PROGRAMS if (answers / name / "costs.json").exists()]
        chosen = named or [name for name in PROGRAMS if name not in done]
        run_programs(chosen, data, answers)
        report = Report("programs", data.name, data.size)
        add_rows(
            report, data, {name: answers / name for name in PROGRAMS if name in (*done, *chosen)}
        )
        whole.rows += report.rows
    for columns in (QUALITIES, SPENT):
        click.echo(table([vars(row) for row in whole.rows], columns) + "\n")
    if out:
        write_report(whole, out)


def python_of(program: str) -> Path:
    """Return a program's Python, after installing the program if necessary."""
    if program not in ENVIRONMENTS:
        return Path(sys.executable)
    folder = ROOT / f".venv-{program.lower()}"
    python = folder / "bin/python"
    installed = folder / "installed"
    if not installed.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        for packages in ENVIRONMENTS[program]:
            subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        installed.touch()
    return python


def run_programs(names: Iterable[str], data: Data, answers: Path, seconds: float = 0) -> None:
    """Run each program in a fresh process, training at most ``seconds`` of CPU time, unless 0."""
    with tempfile.TemporaryDirectory(prefix="xmlc-programs-") as temporary:
        files = Path(temporary)
        for part in ("X", "Y", "X_test"):
            sparse.save_npz(
                files / f"{part}.npz", sparse.csr_matrix(getattr(data, part)), compressed=False
            )
        for name in names:
            click.echo(f"{data.name}: {name}", err=True)
            out = answers / name
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir(parents=True)
            if name in ENVIRONMENTS:
                path = {}
            else:
                path = {"PYTHONPATH": str(ROOT)}
            command = [
                python_of(name),
                "-P",
                ROOT / "benchmarks/fresh.py",
                name,
                files,
                out,
                seconds,
            ]
            if subprocess.run(
                [*map(str, command)], env=os.environ | ONE_THREAD | path, stdout=sys.stderr
            ).returncode:
                raise XmlcError(f"{name} failed on {data.name}. See its output above")
            shutil.rmtree(out / "model", ignore_errors=True)
            (out / "commit").write_text(commit())


def add_rows(report: Report, data: Data, answers: Mapping[str, Path]) -> None:
    """Add costs and qualities of all programs, with bootstrap standard errors as notes."""
    n = data.Y_test.shape[0]
    found = dict[str, tuple[Scores, list[Scores]]]()
    drawn = [np.repeat(np.arange(n), draws(n, each)) for each in range(REPLICATES)]
    propensity = propensities(data.Y, *propensity_parameters(data.name))
    for name, folder in answers.items():
        with np.load(folder / "ranking.npz") as ranking:
            labels = ranking["labels"]
            scores = np.clip(ranking["scores"], 0, 1)
        sets = label_sets(data, labels, scores, folder / "sets.npz")
        parts = [data.Y_test, labels, scores, *sets.values()]
        resampled = []
        for rows in drawn:
            resampled.append(qualities(propensity, sets, *(part[rows] for part in parts)))
        found[name] = qualities(propensity, sets, *parts), resampled
    for name, (measured, resampled) in found.items():
        for (task, measure), value in measured.items():
            error = np.std([scores[task, measure] for scores in resampled], ddof=1)
            report.add(name, task, measure, PERCENT, value, note=f"± {error:.2f}")
        if "Stacking" in found and name != "Stacking":
            key = PREDICTION, "nDCG@5"
            ours, ours_resampled = found["Stacking"]
            error = np.std([a[key] - b[key] for a, b in zip(ours_resampled, resampled)], ddof=1)
            report.add(
                name, PREDICTION, AHEAD, POINTS, ours[key] - measured[key], note=f"± {error:.2f}"
            )
        costs = read_json(answers[name] / "costs.json")
        program = costs["program"] or f"commit {(answers[name] / 'commit').read_text()}"
        for cost, (task, measure, unit, _) in COSTS.items():
            report.add(
                name, task, measure, unit, costs[cost], note=program if task == TRAINING else ""
            )


def label_sets(data: Data, labels: np.ndarray, scores: np.ndarray, own: Path) -> Sets:
    """Return a program's label sets and those that `LabelSets` chooses, by task and measure.

    A program that only ranks gets its best k labels, for the rounded mean k of training instances.
    """
    entries = sparse_entries(labels, scores, data.Y_test.shape)
    if own.exists():
        predicted = sparse.csr_array(sparse.load_npz(own))
    else:
        k = max(round(data.Y.nnz / data.Y.shape[0]), 1)
        predicted = sparse_entries(
            labels[:, :k], np.ones((labels.shape[0], k), dtype=bool), entries.shape
        )
    found = {(SETS, name): predicted for name in MEASURES}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LabelSets warns if scores are not probabilities
        for name, (measure, _) in MEASURES.items():
            found[CHOSEN, name] = (
                LabelSets(measure).fit(entries, prior=priors(data.Y)).predict(entries)
            )
    return found


def sparse_entries(
    labels: np.ndarray, values: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """Convert a ranking to a sparse matrix, without entries -1."""
    rows, places = np.nonzero(labels >= 0)
    return sparse.csr_array((values[rows, places], (rows, labels[rows, places])), shape=shape)


def qualities(
    propensity: np.ndarray, names: Iterable[tuple[str, str]], Y: sparse.csr_array,
    labels: np.ndarray,
    scores: np.ndarray, *sets: sparse.csr_array,
) -> Scores:  # fmt: skip
    """Return all measures in percent, with macro-F over the labels present in ``Y``."""
    found = {f"P@{k}": precision_at_k(Y, labels, k) for k in (1, 3, TOP)} | {
        "nDCG@5": ndcg_at_k(Y, labels, TOP),
        "PSP@5": psp_at_k(Y, labels, propensity, TOP),
        "ECE@1": ece_at_k(Y, labels, scores, 1),
    }
    measured = {(PREDICTION, name): 100 * value for name, value in found.items()}
    for (task, name), predicted in zip(names, sets, strict=True):
        measured[task, name] = 100 * MEASURES[name][1](Y, predicted)
    return measured


def table(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, tuple[str, str]]) -> str:
    """Return a line for each dataset and program, with the standard error of nDCG."""
    values: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
    for row in rows:
        value = float(row["value"])
        note = row["note"]
        if row["unit"] in (PERCENT, POINTS):
            text = f"{value:.1f}"
        else:
            text = f"{float(f'{value:.2g}'):,g}"
        text += f" {note}" if row["measure"].startswith("nDCG") else ""
        values.setdefault((row["dataset"], row["contender"]), {})[row["task"], row["measure"]] = (
            text
        )
    lines = []
    for names, cells in values.items():
        lines.append([*names, *(cells.get(column, "") for column in columns.values())])
    return markdown(["dataset", "program", *columns], lines, n_texts=2)
