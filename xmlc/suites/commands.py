"""Commands that several rules call, as text that Snakemake fills in."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Any

from xmlc.suites.jobs import ThresholdJob
from xmlc.suites.rule_text import folder_above, options

MODEL = "--estimator {params.estimator:q} --name {wildcards.model} --parameters {params.hyperparameters:q}"


def train_with(seed: str, model: str, record: str, log: str, job: str = "train") -> str:
    """Return the command that trains a model with a seed, and where it writes; its record names the job."""
    given = f"xmlc train --data {{input.data}} --part {{params.part}} {MODEL} {{params.tuned:q}} {{params.trees:q}}"
    return f"{given} --seed {seed} {_planned(job)} --out {model} --record {record} 2> {log}"


def rank_with(model: str, training: str, out: str, log: str, job: str = "rank") -> str:
    """Return the command that ranks with a model; its record names the job."""
    given = f"xmlc rank --data {{input.data}} --model {model} --training {training}"
    return f"{given} {_planned(job)} --out {out} 2> {log}"


def sweep_with(training: str, out: str, log: str) -> str:
    """Return the command that makes a sweep with the seed of a training."""
    swept = "--parameters {params.hyperparameters:q} --hyperparameter {params.hyperparameter:q} {params.values:q}"
    return f"xmlc sweep --data {{input.data}} --training {training} {swept} {_planned('sweep')} --out {out} 2> {log}"


def progress_with(seed: str, curve: str, record: str, log: str) -> str:
    """Return the command that has a model predict and learn a stream in the order of a seed."""
    given = f"xmlc progressive --data {{input.data}} {MODEL} --seed {seed} {_planned('progressive')}"
    return f"{given} --curve {curve} --out {record} 2> {log}"


def _planned(job: str) -> str:
    return f"--threads {{threads}} --plan {job} {{resources.mem_mb}}"


def infer_beside(job: ThresholdJob, extensions: Sequence[str]) -> Callable[..., str]:
    """Return a parameter: the command behind that of thresholds, which infers from the same estimates if the job does.

    Snakemake evaluates the text of a rule's ``shell`` when it runs, behind the loop that made the rule: what differs
    from rule to rule is among the parameters. Of logs, which parameters cannot name, the shell has a list.
    """

    # Snakemake gives its own objects, by these names.
    def command(wildcards: object, input: Any, output: Any, threads: int, resources: Any) -> str:
        if job.inference is None:
            return ""
        words = ["--data", input.data, "--estimates", input.estimates, "--training", input.training]
        words += [*job.inference.options, *options("--extension", extensions), "--threads", threads]
        words += ["--plan", "thresholds", resources.mem_mb]
        words += ["--out", f"{folder_above(output[0], 2)}/inference"]
        return f"; xmlc infer {shlex.join(map(str, words))} 2> ${{log[1]}}"

    return command
