"""Estimate the costs of a job by the cost model, and return the memory and minutes that the job requests."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from xmlc.core.errors import XmlcError
from xmlc.kernels.estimator import Hyperparameters
from xmlc.suite.config import paths
from xmlc.suite.config.catalogue import Size
from xmlc.suite.config.cost_model import FitCosts, costs_of, variant_of
from xmlc.suite.config.jobs import SPLITS, threshold_methods
from xmlc.suite.config.project import Project
from xmlc.suite.config.ranges import MOST_FITTED, MOST_VALIDATED
from xmlc.suite.config.settings import RequestedSearch
from xmlc.suite.config.suite import ModelSpec, Stages
from xmlc.suite.results.records.statistics import Statistics

PROCESS = 800e6  # Bytes of memory for Python, for kernels compiled in the process, and for Snakemake on another node.
MEMORY_MARGIN, TIME_MARGIN = 2, 3  # Factors by which the estimated memory and time of a job are multiplied.
SHORTEST, LONGEST = 30, 2880  # Lower and upper bound on the minutes that a job requests.
SLOT = {"plt": 4, "vw-cmt": 16}  # Bytes of one hashed weight.
OF_DATA = 12  # Bytes of memory of a step without a model, for each byte of the data.
DATA_SECONDS = 1e-7  # CPU seconds of a step without a model, for each byte of the data.
# Costs of each estimate above the minimum probability: bytes on disk, and CPU seconds per threshold method.
ESTIMATE_BYTES, ESTIMATE_SECONDS = 8, 1e-7
# Maximum number of estimates in memory at a time, and bytes of memory per estimate, including temporary arrays.
READ_TOGETHER, BLOCK_BYTES = 2**24, 32
OF_INSTANCES = 60  # Maximum number of estimates of an instance, divided by the average number of labels per instance.
# Each thread grows one tree of these forests. The cost model's memory was measured with one tree at a time.
GROWN_AT_ONCE = ("fastxml", "ldsm")
WITH_MODEL = ("rank", "forest", "estimate", "thresholds", "infer")  # Steps that load a model and predict.


class Cost(NamedTuple):
    """Hold the estimated costs of a job: CPU seconds, bytes of memory, and bytes of the files that remain."""

    seconds: float
    memory: float
    disk: float = 0.0


def cost_of(project: Project, step: str, wildcards: Mapping[str, str]) -> Cost:
    """Return the estimated costs of one job of a step. The values of the rule's wildcards identify the job."""
    if (dataset := wildcards.get("dataset")) is None:
        return Cost(60, PROCESS)
    size, model = size_of(project, dataset), wildcards.get("model")
    if model is None:
        return Cost(DATA_SECONDS * size.bytes, PROCESS + OF_DATA * size.bytes, 2 * size.bytes)
    spec, share = project.models[model], 1 - project.settings.validation_share
    given = spec.values_on(dataset) | _largest_tried(project, model, dataset)
    train = partial(_costs_of_training, project, spec, size)
    is_held_out = wildcards.get("split") == "80"
    n = share * size.n_train if is_held_out else size.n_train
    if step == "sweep":
        sweep = project.suites[wildcards["paper"]].sweeps[wildcards["sweep"]]
        stages = [[sweep.hyperparameters | {sweep.hyperparameter: value} for value in sweep.values_on(dataset)]]
        costs = _costs_of_trials(partial(train, size.n_train), size.n_test, given, stages)
    elif step == "tune":
        splits, fitted = (SPLITS, math.inf) if spec.search.always else (1, MOST_FITTED)
        rows, stages = min((1 - share) * size.n_train, MOST_VALIDATED), _stages_of_search(project, spec, dataset)
        trained = partial(train, min(share * size.n_train, fitted))
        costs = _costs_of_trials(trained, rows, given | spec.search.trial_overrides, stages)
        costs = costs._replace(seconds=splits * costs.seconds)
    else:
        costs = train(n, given, most_trees=1 if step in WITH_MODEL else math.inf)
    if step not in WITH_MODEL:
        return Cost(costs.seconds, PROCESS + size.bytes + costs.peak_bytes, costs.model_bytes)
    rows = size.n_test + (1 - share) * size.n_train * (is_held_out or step == "estimate")
    seconds, memory = rows * costs.ranking_ms / 1e3, PROCESS + size.bytes + min(costs.peak_bytes, costs.model_bytes)
    if step in ("rank", "forest"):
        return Cost(seconds, memory)
    count = rows * estimates_of_row(size, project.min_probability(dataset), spec.estimator)
    methods = 1 if step == "estimate" else max(1, len(threshold_methods(project, model, dataset)))
    kept = ESTIMATE_BYTES * count if step == "estimate" else 0.0
    memory += BLOCK_BYTES * min(count, READ_TOGETHER)
    return Cost(seconds + methods * ESTIMATE_SECONDS * count, memory, kept)


def _costs_of_training(
    project: Project, spec: ModelSpec, size: Size, n: float, given: Hyperparameters, most_trees: float = math.inf
) -> FitCosts:
    """Return the costs of training a model, given the configured number of threads and the configured memory."""
    costs = costs_of(size, n, spec.estimator, given)
    peak, disk = costs.peak_bytes, costs.model_bytes
    if spec.estimator in GROWN_AT_ONCE:
        _, trees, _ = variant_of(spec.estimator, given, size.m)
        peak *= max(1.0, min(spec.threads or project.settings.threads, trees, most_trees))
    if isinstance(bits := given.get("hash_bits"), int):
        peak = SLOT.get(spec.estimator, 4) * 2.0**bits
        disk = peak if spec.estimator == "plt" else disk  # A saved PLT contains its whole table of weights.
    peak = spec.memory * size.bytes if spec.memory else peak
    return costs._replace(peak_bytes=peak, model_bytes=disk)


def _stages_of_search(project: Project, spec: ModelSpec, dataset: str) -> Stages:
    """Return the trials of each stage of a search.

    For a search in ranges, each trial is assumed to use the configured values.
    """
    if isinstance(tuning := project.settings.tuning, RequestedSearch) and not spec.search.always:
        return [[{}] * tuning.budget]
    return spec.search.stages_on(dataset) or [[{}]]


def _costs_of_trials(
    train: Callable[[Hyperparameters], FitCosts], rows: float, given: Hyperparameters, stages: Stages
) -> FitCosts:
    """Return the costs of trials, each of which trains a model, ranks some rows and drops the model.

    The most expensive trial of each stage is assumed to be passed to the next stage.
    """
    found: list[FitCosts] = []
    for stage in stages:
        trials = [given | trial for trial in stage]
        costs = [train(trial) for trial in trials]
        given = trials[costs.index(max(costs))]
        found += costs
    seconds = math.fsum(each.seconds + rows * each.ranking_ms / 1e3 for each in found)
    return FitCosts(seconds, max(each.peak_bytes for each in found), max(each.model_bytes for each in found), 0.0)


def estimates_of_row(size: Size, min_probability: float, estimator: str) -> float:
    """Return the approximate number of estimates per instance above a minimum probability, or an upper bound for LdSM.

    An instance gets estimates for the labels of its neighbours, or of the other instances in its leaf. The table
    contains a quotient: the number of estimates of an instance above the minimum, divided by its number of labels. The
    quotient was measured on synthetic copies of datasets with 1/64 of the instances, or 1/16 for wiki10-31k.

    ==============  ====  ===================  ===
    shape           swnn  fastxml (10 trees)   plt
    ==============  ====  ===================  ===
    wiki10-31k        61                   36    5
    delicious-200k    62                    7    7
    amazoncat-13k     53                   58   29
    wikilshtc-325k    61                   65   15
    tib-core-26k                                50
    ==============  ====  ===================  ===

    Each leaf of LdSM has a thousandth of all instances, and each tree adds estimates for other labels. On an eighth of
    delicious-200k, the quotient for LdSM is 26, 49 and 92 with 1, 2 and 4 trees. The upper bound assumes that the k-th
    largest estimate is proportional to 1 / k. It also assumes that the estimates of an instance sum to its number of
    labels.
    """
    most = size.labels_per_instance / (min_probability * max(1.0, math.log(size.m)))
    return min(size.m, most if estimator == "ldsm" else min(most, OF_INSTANCES * size.labels_per_instance))


def _largest_tried(project: Project, model: str, dataset: str) -> Hyperparameters:
    """Return the largest arity in the trials of a model's search, as hyperparameters such as ``{"arity": 16}``.

    Return an empty dict if the model is not trained with the result of a search, or if no trial sets an arity.
    """
    if not project.tuned_by(model, dataset):
        return {}
    owner = project.models[project.models[model].share_search_with or model]
    stages = owner.search.stages_on(dataset)
    tried = [arity for stage in stages for trial in stage if isinstance(arity := trial.get("arity"), int)]
    return {"arity": max(tried)} if tried else {}


def memory_mb(project: Project, step: str, wildcards: Mapping[str, str]) -> int:
    """Return the memory in MB that a job requests.

    Only the memory beyond `PROCESS` is multiplied by `MEMORY_MARGIN`.
    """
    memory = cost_of(project, step, wildcards).memory
    return math.ceil((PROCESS + MEMORY_MARGIN * (memory - PROCESS)) / 1e6)


def minutes(project: Project, step: str, wildcards: Mapping[str, str]) -> int:
    """Return the wall minutes that a job requests. The estimate for one processor is multiplied by `TIME_MARGIN`."""
    own = project.models[wildcards["model"]].minutes if wildcards.get("model") else None
    return own or min(math.ceil(SHORTEST + TIME_MARGIN * cost_of(project, step, wildcards).seconds / 60), LONGEST)


def size_of(project: Project, dataset: str) -> Size:
    """Return the size of a dataset: counted in the prepared data, or from the catalogue before the preparation."""
    path = Path(paths.STATISTICS.of(dataset=dataset))
    counted = _counted(path, path.stat().st_mtime_ns) if path.is_file() else None
    return counted or project.entry(dataset).size


def is_size_known(project: Project, dataset: str) -> bool:
    """Return whether a dataset's size was counted or is in the catalogue.

    Otherwise `size_of` returns a default size.
    """
    return size_of(project, dataset) != Size()


@lru_cache(maxsize=256)
def _counted(path: Path, changed: int) -> Size | None:
    """Return the size in a record of statistics, or None if the record is damaged. A later step reports the damage."""
    try:
        found = Statistics.read(path)
    except XmlcError:
        return None
    nonzeros, labels = found.train.activations_per_instance.mean, found.train.labels_per_instance.mean
    return Size(found.train.instances, found.test.instances, found.d, found.m, nonzeros, labels)
