"""Memory, minutes and threads that a job requests.

Memory is an upper bound: a process, the bytes of the data times one number (of the estimator, where a model is
trained), and the model and estimates that a step reads. Minutes are a coarse class of the data's bytes. A retry asks
for more. Snakemake asks when the jobs are listed, and again before each starts: then its data and model exist.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from xmlc.core.errors import XmlcError
from xmlc.core.files import read_json
from xmlc.records.statistics import Statistics
from xmlc.records.thresholds import Estimates
from xmlc.suites import paths
from xmlc.suites.project import Project
from xmlc.suites.suite import ModelSpec

# The most threads that a step can use; training and what is not named here use all that the settings give.
MOST_THREADS = {"rank": 4, "estimate": 4, "thresholds": 2, "infer": 4, "forest": 4}
BESIDE = 300  # MB of Snakemake itself, which runs twice within a job on another node

PROCESS = 480e6  # bytes of an interpreter with its libraries, and of compiling kernels that no cache has
NONZERO, LABEL, ESTIMATE = 8.0, 4.0, 8.0  # bytes
# Times the bytes of the data that a step holds, beside the model that it reads.
READING = {"synth": 12.0, "prepare": 6.0}
ANY_READING = 3.5
# Times the bytes of the data that training holds, the model included: of forests for each tree.
TRAINING = {
    "plt": 50.0,
    "parabel": 12.0,
    "fastxml": 0.8,
    "ldsm": 8.0,
    "oplt": 200.0,
    "br": 20.0,
    "pcc": 20.0,
    "swnn": 8.0,
    "oracle": 1.0,
    "estimates": 1.0,
    "napkinxc-plt": 100.0,
    "napkinxc-br": 100.0,
    "napkinxc-oplt": 300.0,
    "napkinxc-iplt": 300.0,
    "omikuji-parabel": 50.0,
}
OWN = 50.0  # of an estimator of the user's own that has no key `memory`
CUT = 12.0  # of a PLT whose solver 'batch' drops small weights of each node
FORESTS, MOST_TREES = ("fastxml", "ldsm"), 50.0
# Label trees: more by this number of labels of an instance, but no more than weights of all features for all labels.
TREES, FEW_LABELS, WEIGHTS = ("plt", "parabel", "oplt", "napkinxc-plt", "napkinxc-oplt", "napkinxc-iplt"), 5.0, 32.0
SLOT = {"plt": 4.0, "vw-plt": 16.0, "vw-cmt": 16.0}  # bytes of a hashed weight
BITS = {"vw-plt": 24, "vw-cmt": 24}  # where a suite gives none
LEARNING = ("train", "tune", "sweep", "progressive")
LABELS, COPIES = 64.0, 3.0  # estimates of an instance for each of its labels; how often a step holds them

CLASSES = (30, 120, 480, 1440, 2880)  # minutes
SIZES = (10e6, 100e6, 1e9)  # bytes of the data from which on a job is in the next class
# Steps and estimators whose jobs are a class higher.
LONG = ("tune", "sweep", "progressive")
SLOW = ("ldsm", "br", "pcc", "napkinxc-br", "napkinxc-oplt", "napkinxc-iplt", "vw-plt", "vw-cmt")

SYNTHETIC = {"n_features": "d", "n_labels": "m"}  # names of the counts of a set that is made


class Size(NamedTuple):
    """How large a dataset is: instances, features, labels, and averages for an instance.

    The defaults are for sets that the catalogue does not know: one of the papers' has 20 to 700 features and 2 to 75
    labels an instance.
    """

    n_train: float = 50_000.0
    n_test: float = 10_000.0
    d: float = 100_000.0
    m: float = 50_000.0
    nonzeros: float = 100.0
    labels_per_instance: float = 5.0

    @property
    def bytes(self) -> float:
        """Bytes of its arrays."""
        return (self.n_train + self.n_test) * (NONZERO * self.nonzeros + LABEL * self.labels_per_instance)


class Requests:
    """Resources that the rules request.

    Parameters
    ----------
    project : Project
    workflow : Snakemake's workflow
        Asked when jobs are planned: what it knows of its executor comes after the rules.
    """

    def __init__(self, project: Project, workflow: Any):
        self.project, self.workflow = project, workflow
        self._told: set[str] = set()  # datasets

    def of(self, *steps: str, times: int = 1) -> dict[str, Callable[..., int]]:
        """Return the resources of a rule of steps one after the other, as functions that Snakemake calls.

        Parameters
        ----------
        *steps : str
        times : int
            How often all steps are done, such as once for each seed. Several steps are a class of minutes higher.
        """
        more = len(steps) > 1 or times > 1

        def memory(wildcards: Mapping[str, str], attempt: int) -> int:
            mb = attempt * math.ceil(max(most_bytes(self.project, step, wildcards) for step in steps) / 1e6)
            self._tell_if_large(mb, " ".join([" and ".join(steps), *wildcards]), wildcards.get("dataset") or "")
            return mb if self.workflow.local_exec else mb + BESIDE

        def runtime(wildcards: Mapping[str, str], attempt: int) -> int:
            return attempt * max(minutes(self.project, step, wildcards, more) for step in steps)

        return {"mem_mb": memory, "runtime": runtime}

    def threads(self, step: str) -> Callable[[Mapping[str, str]], int]:
        """Return a function for the threads of a step's job: its model's, and no more than the step can use."""

        def chosen(wildcards: Mapping[str, str]) -> int:
            spec = self.project.models.get(wildcards.get("model", ""))
            given = (spec and spec.threads) or self.project.settings.threads
            return min(given, MOST_THREADS.get(step, given))

        return chosen

    def _tell_if_large(self, mb: int, job: str, dataset: str) -> None:
        """Say, once for each dataset, that a job may need more than all jobs have together.

        Snakemake would lower its request to that limit, which the profile or --resources gives, without a word.
        """
        limit = getattr(self.workflow.global_resources.get("mem_mb"), "value", None)
        if isinstance(limit, int) and mb > limit and dataset not in self._told:
            self._told.add(dataset)
            said = f"{dataset}: {job} may need up to {mb:,} MB, more than the {limit:,} MB that all jobs have together"
            advice = "Such a job runs alone, and may be ended for want of memory: take a larger machine."
            print(f"{said} (resources: mem_mb). {advice}", file=sys.stderr, flush=True)


def most_bytes(project: Project, step: str, wildcards: Mapping[str, str]) -> float:
    """Return an upper bound of the memory that a step takes.

    Parameters
    ----------
    project : Project
    step : str
        The subcommand.
    wildcards : dict of str to str
        Those of its rule: dataset, and where it has them model, seed and portion.
    """
    dataset, model = wildcards.get("dataset"), wildcards.get("model")
    if dataset is None:
        return PROCESS
    size = size_of(project, dataset)
    held = PROCESS + READING.get(step, ANY_READING) * size.bytes
    if model is None:
        return held
    trained = _trained_bytes(project.models[model], dataset, size)
    if step in LEARNING:
        return PROCESS + max(trained, ANY_READING * size.bytes)
    portion = wildcards.get("portion") or ("80" if step in ("estimate", "thresholds") else "full")
    run = {"dataset": dataset, "model": model, "seed": wildcards.get("seed") or "0", "portion": portion}
    held += _number(Path(paths.TRAINING.of(**run)), "costs", "model_bytes", trained)
    if step == "rank" or portion == "full":
        return held
    rows = size.n_test + project.settings.validation_share * size.n_train
    estimates = ESTIMATE * rows * min(size.m, LABELS * size.labels_per_instance)
    found = Path(paths.ESTIMATES.of(**run), Estimates.FILE)
    return held + COPIES * _number(found, "step", "written_bytes", estimates)


def _trained_bytes(spec: ModelSpec, dataset: str, size: Size) -> float:
    """Return an upper bound of the bytes of training beside a process."""
    given, kind = spec.values_on(dataset), spec.estimator
    bits = given.get("hash_bits", BITS.get(kind))
    if spec.memory is not None:
        return spec.memory * size.bytes
    if kind in SLOT and isinstance(bits, int):
        return ANY_READING * size.bytes + SLOT[kind] * 2.0**bits
    if kind == "plt" and given.get("solver") == "batch" and given.get("weight_cut") is not None:
        return CUT * size.bytes
    times = TRAINING.get(kind, OWN)
    if kind in TREES:
        times *= max(1.0, size.labels_per_instance / FEW_LABELS)
        return ANY_READING * size.bytes + min(times * size.bytes, WEIGHTS * size.d * size.m)
    if kind in FORESTS:
        times *= trees if isinstance(trees := given.get("n_trees"), int) else MOST_TREES
    return times * size.bytes


def minutes(project: Project, step: str, wildcards: Mapping[str, str], more: bool = False) -> int:
    """Return the wall minutes that a step may take, or one of several that are one job."""
    dataset, model = wildcards.get("dataset"), wildcards.get("model")
    spec = None if model is None else project.models[model]
    if spec and spec.minutes:
        return spec.minutes
    size = 0 if dataset is None else bisect(SIZES, size_of(project, dataset).bytes)
    slow = spec is not None and spec.estimator in SLOW
    return CLASSES[min(size + (step in LONG) + slow + more, len(CLASSES) - 1)]


def size_of(project: Project, dataset: str) -> Size:
    """Return the size of a dataset: counted, where it is prepared, or as the catalogue has it."""
    path = Path(paths.STATISTICS.of(dataset=dataset))
    counted = _counted(path, path.stat().st_mtime_ns) if path.is_file() else None
    if counted is not None:
        return counted
    entry = project.entry(dataset)
    given: dict[str, Any] = {**(entry.published or {}), **(entry.synthetic or {})}
    given = {SYNTHETIC.get(name, name): value for name, value in given.items()}
    return Size(**{name: float(given[name]) for name in Size._fields if name in given})


@lru_cache(maxsize=256)
def _counted(path: Path, changed: int) -> Size | None:
    """Return the content of a record; None if it is damaged, which the step that needs it reports."""
    try:
        found = Statistics.read(path)
    except XmlcError:
        return None
    nonzeros, labels = found.train.activations_per_instance.mean, found.train.labels_per_instance.mean
    return Size(found.train.instances, found.test.instances, found.d, found.m, nonzeros, labels)


def _number(path: Path, part: str, key: str, otherwise: float) -> float:
    """Return a number of a record; another one if the record is not there or has none."""
    try:
        found = read_json(path)[part][key]
    except (OSError, KeyError, TypeError, ValueError):
        return otherwise
    return otherwise if found is None else float(found)
