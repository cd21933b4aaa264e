"""Estimate the costs of a job by the cost model, and return the memory and minutes that the job requests."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from xmlc.core.errors import XmlcError
from xmlc.kernels.estimator import Hyperparameters
from xmlc.models.domains import stacking
from xmlc.models.domains.forests import GROWING_BYTES
from xmlc.models.registry import LEARNERS
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
OF_DATA = 12  # Bytes of memory of a step without a model, divided by the bytes of the dataset.
DATA_SECONDS = 1e-7  # CPU seconds of a step without a model, divided by the bytes of the dataset.
# Costs of one stored estimate: bytes on disk, and CPU seconds of each threshold method.
ESTIMATE_BYTES, ESTIMATE_SECONDS = 8, 1e-7
# Maximum number of estimates in memory at the same time, and bytes of memory per estimate with temporary arrays.
READ_TOGETHER, BLOCK_BYTES = 2**24, 32
# Number of estimates per instance of an estimator that is not in `DEFAULTS`, divided by the labels per instance.
OF_INSTANCES = 60
# Hyperparameters that determine the number of estimates per instance, with their default values.
DEFAULTS: dict[str, dict[str, Any]] = {
    "fastxml": {"n_trees": 50, "max_leaf": 10, "labels_per_leaf": 100},
    "ldsm": {"n_trees": 10, "arity": 2, "max_nodes": None},
    "stacking": {"estimators": None, "n_candidates": 50},
    "swnn": {"S": 75},
}
# An instance has estimates for t ** OVERLAP times as many labels with t trees as with one tree.
OVERLAP = 0.85
# Number of training instances in an average leaf of FastXML, divided by the hyperparameter max_leaf.
LEAF_SHARE = 0.67
# Forests whose training grows one tree on each thread, unless the trees are large. The memory in the cost model was
# measured with one tree at a time.
GROWN_AT_ONCE = ("fastxml", "ldsm")
# Maximum bytes of a model that a step which predicts keeps in memory. The arrays are mapped from files, so less memory
# ends no step, but the system then reads the files again and again. A PLT of 1.8 GB, of which predictions read 1.1 GB,
# ranked in 6 CPU seconds, in 17 within 0.9 GB of memory, and had not finished after 82 within 0.6 GB.
MAPPED_BYTES = 8e9
WITH_MODEL = ("rank", "forest", "estimate", "thresholds", "infer")  # Steps that predict with a trained model.


class Cost(NamedTuple):
    """Hold the estimated CPU seconds of a job, its bytes of memory, and the bytes of the files that stay on disk."""

    seconds: float
    memory: float
    disk: float = 0.0


def cost_of(project: Project, step: str, wildcards: Mapping[str, str]) -> Cost:
    """Return the estimated costs of one job of a step. The wildcards of the job's rule identify the job."""
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
    held = min(costs.model_bytes, MAPPED_BYTES if spec.estimator in LEARNERS else costs.peak_bytes)
    seconds = rows * costs.ranking_ms / 1e3
    memory = PROCESS + size.bytes + held
    if step in ("rank", "forest"):
        return Cost(seconds, memory)
    count = rows * estimates_of_row(size, n, project.min_probability(dataset), spec.estimator, given)
    methods = 1 if step == "estimate" else max(1, len(threshold_methods(project, model, dataset)))
    kept = ESTIMATE_BYTES * count if step == "estimate" else 0.0
    memory += BLOCK_BYTES * min(count, READ_TOGETHER)
    return Cost(seconds + methods * ESTIMATE_SECONDS * count, memory, kept)


def _costs_of_training(
    project: Project, spec: ModelSpec, size: Size, n: float, given: Hyperparameters, most_trees: float = math.inf
) -> FitCosts:
    """Return the costs of training a model with the configured number of threads and the configured memory."""
    costs = costs_of(size, n, spec.estimator, given)
    peak, disk = costs.peak_bytes, costs.model_bytes
    if spec.estimator in GROWN_AT_ONCE:
        _, trees, _ = variant_of(spec.estimator, given, size.m)
        at_once = max(1.0, min(spec.threads or project.settings.threads, trees, most_trees))
        peak = max(peak, min(at_once * peak, GROWING_BYTES))
    if isinstance(bits := given.get("hash_bits"), int):
        peak = SLOT.get(spec.estimator, 4) * 2.0**bits
        # The file of a saved PLT contains the whole table of hashed weights.
        disk = peak if spec.estimator == "plt" else disk
    peak = spec.memory * size.bytes if spec.memory else peak
    return costs._replace(peak_bytes=peak, model_bytes=disk)


def _stages_of_search(project: Project, spec: ModelSpec, dataset: str) -> Stages:
    """Return the stages of a search as lists of trials.

    In a search in ranges, every trial is assumed to cost as much as training with the configured values.
    """
    if isinstance(tuning := project.settings.tuning, RequestedSearch) and not spec.search.always:
        return [[{}] * tuning.budget]
    return spec.search.stages_on(dataset) or [[{}]]


def _costs_of_trials(
    train: Callable[[Hyperparameters], FitCosts], rows: float, given: Hyperparameters, stages: Stages
) -> FitCosts:
    """Return the total costs of trials. Each trial trains a model, ranks some rows and deletes the model.

    The estimate assumes that the most expensive trial of a stage is the best trial, which later stages extend.
    """
    found: list[FitCosts] = []
    for stage in stages:
        trials = [given | trial for trial in stage]
        costs = [train(trial) for trial in trials]
        given = trials[costs.index(max(costs))]
        found += costs
    seconds = math.fsum(each.seconds + rows * each.ranking_ms / 1e3 for each in found)
    return FitCosts(seconds, max(each.peak_bytes for each in found), max(each.model_bytes for each in found), 0.0)


def estimates_of_row(size: Size, n: float, min_probability: float, estimator: str, given: Mapping[str, Any]) -> float:
    """Return the estimated number of estimates per instance above a minimum probability.

    With a nearest-neighbour model, an instance has estimates for the labels of its S nearest neighbours. With a tree of
    FastXML or LdSM, it has estimates for the labels of the training instances in its leaves. FastXML keeps
    ``labels_per_leaf`` labels of a leaf. LdSM sends an instance to several children of a node, so that an instance
    reaches about four times as many training instances with arity 4 as with arity 2. Stacking has estimates for the
    candidates of its members only.

    The result is at most the number of estimates above the minimum probability if the k-th largest estimate of an
    instance is proportional to 1 / k and its estimates sum to its number of labels. On a synthetic copy of
    delicious-200k whose leaves are as large as those of the whole dataset, 25 trees of LdSM have 1.7 times as many.

    `tests/suite/config/test_job_costs.py` has the measured numbers of estimates that the constants come from.

    Parameters
    ----------
    size : Size
    n : float
        Number of training instances.
    min_probability : float
    estimator : str
    given : mapping of str to object
        Hyperparameters of the estimator.
    """
    labels = size.labels_per_instance
    values = DEFAULTS.get(estimator, {}) | {**given}
    if estimator == "swnn":
        count = values["S"] * labels
    elif estimator == "fastxml":
        of_instances = values["n_trees"] * LEAF_SHARE * values["max_leaf"] * labels
        count = min(of_instances, values["n_trees"] ** OVERLAP * values["labels_per_leaf"])
    elif estimator == "ldsm":
        leaves = (values["max_nodes"] or max(1000, n / 2)) / 2
        of_leaf = (values["arity"] / 2) ** 2 * n / leaves * labels
        count = values["n_trees"] ** OVERLAP * of_leaf
    elif estimator == "stacking":
        members = values["estimators"] or stacking.default_members(size.m)
        count = len(members) * values["n_candidates"]
    else:
        count = OF_INSTANCES * labels
    most = labels / (min_probability * max(1.0, math.log(size.m)))
    return float(min(size.m, most, count))


def _largest_tried(project: Project, model: str, dataset: str) -> Hyperparameters:
    """Return the largest arity that the trials of a model's search try, as a dict such as ``{"arity": 16}``.

    The dict is empty if the model is not trained with a search result, or if no trial sets an arity.
    """
    if not project.tuned_by(model, dataset):
        return {}
    owner = project.models[project.models[model].share_search_with or model]
    stages = owner.search.stages_on(dataset)
    tried = [arity for stage in stages for trial in stage if isinstance(arity := trial.get("arity"), int)]
    return {"arity": max(tried)} if tried else {}


def memory_mb(project: Project, step: str, wildcards: Mapping[str, str]) -> int:
    """Return the memory in MB that a job requests.

    The requested memory is `PROCESS`, plus `MEMORY_MARGIN` times the rest of the estimated memory.
    """
    memory = cost_of(project, step, wildcards).memory
    return math.ceil((PROCESS + MEMORY_MARGIN * (memory - PROCESS)) / 1e6)


def minutes(project: Project, steps: Iterable[str], wildcards: Mapping[str, str]) -> int:
    """Return the minutes of wall time that a job of some steps requests.

    The estimated time on one processor is multiplied by `TIME_MARGIN`.
    """
    own = project.models[wildcards["model"]].minutes if wildcards.get("model") else None
    if own:
        return own
    seconds = math.fsum(cost_of(project, step, wildcards).seconds for step in steps)
    return min(math.ceil(SHORTEST + TIME_MARGIN * seconds / 60), LONGEST)


def size_of(project: Project, dataset: str) -> Size:
    """Return the size of a dataset from its statistics, or from the catalogue if the dataset is not prepared yet."""
    path = Path(paths.STATISTICS.of(dataset=dataset))
    counted = _counted(path, path.stat().st_mtime_ns) if path.is_file() else None
    return counted or project.entry(dataset).size


def is_size_known(project: Project, dataset: str) -> bool:
    """Return whether the size of a dataset is in its statistics or in the catalogue.

    If the size is unknown, `size_of` returns a default size.
    """
    return size_of(project, dataset) != Size()


@lru_cache(maxsize=256)
def _counted(path: Path, changed: int) -> Size | None:
    """Return the size of a dataset from its statistics file, or None if the file is damaged.

    A damaged file is reported by the step that needs it.
    """
    try:
        found = Statistics.read(path)
    except XmlcError:
        return None
    nonzeros, labels = found.train.activations_per_instance.mean, found.train.labels_per_instance.mean
    return Size(found.train.instances, found.test.instances, found.d, found.m, nonzeros, labels)
