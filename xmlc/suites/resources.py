"""Memory and minutes that a job requests: the bytes of its data, times one number of the estimator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from xmlc.core.errors import XmlcError
from xmlc.records.statistics import Statistics
from xmlc.suites import paths
from xmlc.suites.project import Project

PROCESS = 800  # MB: an interpreter, kernels that no cache has, and Snakemake itself on another node


class Price(NamedTuple):
    """What a job of an estimator takes for each byte of its data, the model included."""

    #: Bytes of memory. Of forests for each tree.
    memory: float
    #: Minutes for a GB.
    minutes: float = 500.0


PRICES = {
    "plt": Price(50),
    "parabel": Price(12),
    "fastxml": Price(0.8),
    "ldsm": Price(8, 1500),
    "oplt": Price(200),
    "br": Price(20, 1500),
    "pcc": Price(20, 1500),
    "swnn": Price(8),
    "oracle": Price(4),
    "estimates": Price(4),
    "napkinxc-plt": Price(100),
    "napkinxc-oplt": Price(300, 1500),
    "napkinxc-iplt": Price(300, 1500),
    "omikuji-parabel": Price(50),
    "vw-cmt": Price(50, 1500),
}
OF_DATA = Price(12, 500)  # of steps without a model
OWN = Price(50, 500)  # of an estimator of the user's own, which may have the keys `memory` and `minutes`
TREES = {"fastxml": 50, "ldsm": 50}  # of forests where a suite gives no number
LABEL_TREES = ("plt", "parabel", "oplt", "napkinxc-plt", "napkinxc-oplt", "napkinxc-iplt")
FEW_LABELS = 5  # of an instance
SLOT = {"plt": 4, "vw-cmt": 16}  # bytes of a hashed weight
SEVERAL_FITS = ("tune", "sweep", "progressive")  # steps that take several times as long as one training
SHORTEST, LONGEST = 30, 2880  # minutes


class Size(NamedTuple):
    """How large a dataset is: instances, and averages for an instance.

    The defaults are for sets that the catalogue does not know: one of the papers' has 20 to 700 features and 2 to 75
    labels an instance.
    """

    n_train: float = 50_000.0
    n_test: float = 10_000.0
    nonzeros: float = 100.0
    labels_per_instance: float = 5.0

    @property
    def bytes(self) -> float:
        """Bytes of its arrays: 8 for a non-zero, 4 for a label of an instance."""
        return (self.n_train + self.n_test) * (8 * self.nonzeros + 4 * self.labels_per_instance)


def memory_mb(project: Project, step: str, wildcards: Mapping[str, str]) -> int:
    """Return an upper bound of the megabytes that a step takes.

    Parameters
    ----------
    project : Project
    step : str
        The subcommand.
    wildcards : mapping of str to str
        Those of its rule: dataset and model, where it has them.
    """
    dataset, model = wildcards.get("dataset"), wildcards.get("model")
    if dataset is None:
        return PROCESS
    size, times, table = size_of(project, dataset), OF_DATA.memory, 0.0
    if model is not None:
        spec = project.models[model]
        given = spec.values_on(dataset)
        times = spec.memory or PRICES.get(spec.estimator, OWN).memory
        if spec.estimator in TREES and spec.memory is None:
            trees = given.get("n_trees")
            times *= trees if isinstance(trees, int) else TREES[spec.estimator]
        if spec.estimator in LABEL_TREES and spec.memory is None:
            times *= max(1.0, size.labels_per_instance / FEW_LABELS)  # more paths for each instance
        if isinstance(bits := given.get("hash_bits"), int):
            times, table = OF_DATA.memory, SLOT.get(spec.estimator, 4) * 2.0**bits
    return PROCESS + math.ceil((times * size.bytes + table) / 1e6)


def minutes(project: Project, step: str, wildcards: Mapping[str, str]) -> int:
    """Return the wall minutes that a step may take."""
    dataset, model = wildcards.get("dataset"), wildcards.get("model")
    spec = None if model is None else project.models[model]
    if spec and spec.minutes:
        return spec.minutes
    price = OF_DATA if spec is None else PRICES.get(spec.estimator, OWN)
    gigabytes = 0.0 if dataset is None else size_of(project, dataset).bytes / 1e9
    fits = 3 if step in SEVERAL_FITS else 1
    return min(math.ceil(SHORTEST + fits * price.minutes * gigabytes), LONGEST)


def size_of(project: Project, dataset: str) -> Size:
    """Return the size of a dataset: counted, where it is prepared, or as the catalogue has it."""
    path = Path(paths.STATISTICS.of(dataset=dataset))
    counted = _counted(path, path.stat().st_mtime_ns) if path.is_file() else None
    if counted is not None:
        return counted
    entry = project.entry(dataset)
    given = {**(entry.published or {}), **(entry.synthetic or {})}
    return Size(**{name: float(given[name]) for name in Size._fields if name in given})


@lru_cache(maxsize=256)
def _counted(path: Path, changed: int) -> Size | None:
    """Return the content of a record; None if it is damaged, which the step that needs it reports."""
    try:
        found = Statistics.read(path)
    except XmlcError:
        return None
    nonzeros, labels = found.train.activations_per_instance.mean, found.train.labels_per_instance.mean
    return Size(found.train.instances, found.test.instances, nonzeros, labels)
