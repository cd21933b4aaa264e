"""What a job takes, by the laws of `xmlc.suite.config.laws`, and the memory and minutes that it requests."""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from xmlc.core.errors import XmlcError
from xmlc.suite.config import paths
from xmlc.suite.config.jobs import threshold_methods
from xmlc.suite.config.laws import Size, costs_of, size_in, variant_of
from xmlc.suite.config.project import SPLITS, Project
from xmlc.suite.results.records.statistics import Statistics

PROCESS = 800e6  # bytes: an interpreter, kernels that no cache has, and Snakemake itself on another node
MEMORY_MARGIN, TIME_MARGIN = 2, 3  # a job requests so many times what the law foretells
SHORTEST, LONGEST = 30, 2880  # minutes
SLOT = {"plt": 4, "vw-cmt": 16}  # bytes of a hashed weight
OF_DATA = 12  # bytes of memory for each byte of the data, and
DATA_SECONDS = 1e-7  # seconds, of steps without a model
ESTIMATE_BYTES, ESTIMATE_SECONDS = 8, 1e-7  # of an estimate above the floor, and what a method does with it
READ_TOGETHER, BLOCK_BYTES = 2**24, 32  # of them, in memory: estimates, and what is made or sorted of each
OF_INSTANCES = 60  # others, whose labels an instance has estimates of
SAMPLED = 20_000  # instances of a trial of `tuning: auto`
GROWN_AT_ONCE = ("fastxml", "ldsm")  # forests of which each thread grows a tree; one tree was measured
WITH_MODEL = ("rank", "forest", "estimate", "thresholds", "infer")  # steps that read one and predict


class Taken(NamedTuple):
    """What a job takes, as foretold: processor seconds, bytes of memory, and of what it leaves on disk."""

    seconds: float
    memory: float
    disk: float = 0.0


def taken(project: Project, step: str, wildcards: Mapping[str, str]) -> Taken:
    """Return what a step takes.

    Parameters
    ----------
    project : Project
    step : str
        The subcommand.
    wildcards : mapping of str to str
        Those of its rule: dataset, model and portion, where it has them.
    """
    if (dataset := wildcards.get("dataset")) is None:
        return Taken(60, PROCESS)
    size, model, held_out = size_of(project, dataset), wildcards.get("model"), wildcards.get("portion") == "80"
    if model is None:
        return Taken(DATA_SECONDS * size.bytes, PROCESS + OF_DATA * size.bytes, 2 * size.bytes)
    spec, share = project.models[model], 1 - project.settings.validation_share
    given, n, runs = spec.values_on(dataset) | _largest_tried(project, model, dataset), size.n_train, 1
    if step == "tune":
        stages = spec.search.stages_on(dataset)
        runs = (SPLITS if spec.search.always else 1) * max(1, sum(map(len, stages)))
        n, given = (share * n if spec.search.always else min(share * n, SAMPLED)), given | spec.search.in_trials
    elif step == "sweep":
        sweeps = [sweep for suite in project.suites.values() for sweep in suite.sweeps.values() if sweep.model == model]
        runs = max((len(sweep.values_on(dataset)) for sweep in sweeps), default=1)
    elif held_out:
        n = share * n
    costs = costs_of(size, n, spec.estimator, given)
    peak, disk = costs.peak_bytes, costs.model_bytes
    if spec.estimator in GROWN_AT_ONCE and step not in WITH_MODEL:  # which read tree by tree
        peak *= min(spec.threads or project.settings.threads, variant_of(spec.estimator, given, size.m)[1])
    if isinstance(bits := given.get("hash_bits"), int):
        peak = SLOT.get(spec.estimator, 4) * 2.0**bits
        disk = peak if spec.estimator == "plt" else disk  # which saves the whole table
    if spec.memory:
        peak = spec.memory * size.bytes
    if step not in WITH_MODEL:
        return Taken(runs * costs.seconds, PROCESS + size.bytes + peak, disk)
    rows = size.n_test + (1 - share) * size.n_train * (held_out or step == "estimate")
    seconds, memory = rows * costs.ranking_ms / 1e3, PROCESS + size.bytes + min(peak, disk)
    if step in ("rank", "forest"):
        return Taken(seconds, memory)
    count = rows * estimates_of_row(size, project.floor(dataset), spec.estimator)
    methods = 1 if step == "estimate" else max(1, len(threshold_methods(project, model, dataset)))
    kept = ESTIMATE_BYTES * count if step == "estimate" else 0.0
    memory += BLOCK_BYTES * min(count, READ_TOGETHER)
    return Taken(seconds + methods * ESTIMATE_SECONDS * count, memory, kept)


def estimates_of_row(size: Size, floor: float, estimator: str) -> float:
    """Return how many estimates of an instance exceed a floor, about or at most.

    Neighbours, leaves of few instances and a label tree give an instance the labels of some others. Counted were (swnn,
    10 trees of fastxml, plt; on shapes, with 1/64 of the instances but for the first) 61, 36 and 5 times the labels of
    an instance on a sixteenth of wiki10-31k, 62, 7 and 7 on delicious-200k, 53, 58 and 29 on amazoncat-13k, 61, 65 and
    15 on wikilshtc-325k; 50 of plt on tib-core-26k. The leaves of LdSM hold a thousandth of all instances, and more
    labels with each tree: of 1, 2 and 4 trees on an eighth of delicious-200k 26, 49 and 92 times. If the k-th largest
    of estimates that sum to the labels of an instance is as 1 / k, those above the floor are no more than here.
    """
    most = size.labels_per_instance / (floor * max(1.0, math.log(size.m)))
    return min(size.m, most if estimator == "ldsm" else min(most, OF_INSTANCES * size.labels_per_instance))


def _largest_tried(project: Project, model: str, dataset: str) -> dict[str, int]:
    """Return the largest arity that a search tries, where what it finds is trained with and is not known yet."""
    if not project.tuned_by(model, dataset):
        return {}
    owner = project.models[project.models[model].tuned_as or model]
    stages = owner.search.stages_on(dataset)
    tried = [arity for stage in stages for trial in stage if isinstance(arity := trial.get("arity"), int)]
    return {"arity": max(tried)} if tried else {}


def memory_mb(project: Project, step: str, wildcards: Mapping[str, str]) -> int:
    """Return the megabytes that a step requests: above the process and the data a margin over what is foretold."""
    memory = taken(project, step, wildcards).memory
    return math.ceil((PROCESS + MEMORY_MARGIN * (memory - PROCESS)) / 1e6)


def minutes(project: Project, step: str, wildcards: Mapping[str, str]) -> int:
    """Return the wall minutes that a step requests: a margin over what it would take on one processor."""
    model = wildcards.get("model")
    if model and (own := project.models[model].minutes):
        return own
    return min(math.ceil(SHORTEST + TIME_MARGIN * taken(project, step, wildcards).seconds / 60), LONGEST)


def free_disk(folder: Path = Path()) -> int:
    """Return the bytes that can still be written to a folder."""
    return shutil.disk_usage(folder).free


def size_of(project: Project, dataset: str) -> Size:
    """Return the size of a dataset: counted, where it is prepared, or as the catalogue has it."""
    return _count_of(dataset) or size_in(project.entry(dataset))


def is_size_known(project: Project, dataset: str) -> bool:
    """Say whether the size of a dataset is counted or in the catalogue, and not the default."""
    return bool(_count_of(dataset)) or size_in(project.entry(dataset)) != Size()


def _count_of(dataset: str) -> Size | None:
    path = Path(paths.STATISTICS.of(dataset=dataset))
    return _counted(path, path.stat().st_mtime_ns) if path.is_file() else None


@lru_cache(maxsize=256)
def _counted(path: Path, changed: int) -> Size | None:
    """Return the content of a record; None if it is damaged, which the step that needs it reports."""
    try:
        found = Statistics.read(path)
    except XmlcError:
        return None
    nonzeros, labels = found.train.activations_per_instance.mean, found.train.labels_per_instance.mean
    return Size(found.train.instances, found.test.instances, found.d, found.m, nonzeros, labels)
