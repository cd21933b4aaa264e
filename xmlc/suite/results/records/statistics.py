"""Summary statistics of training and test sets, and the statistics file of `xmlc prepare`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from msgspec import Meta

from xmlc.suite.provenance.environment import StepCosts
from xmlc.suite.results.records.base import Count, Numbers, RecordFile, json_keys

if TYPE_CHECKING:
    from scipy import sparse

Amount = Annotated[float, Meta(ge=0)]
AVERAGES = ("labels_per_instance", "instances_per_label")
COUNTED = (
    "instances_per_label_seen", "labels_per_instance", "activations_per_instance",
    "occurrences_per_feature_seen",
)  # fmt: skip
# Fields of `FiveNumbers` by quantity.
SUMMARY = {"minimum": "min", "lower_quartile": "lower_quartile", "median": "median",
           "upper_quartile": "upper_quartile", "maximum": "max", "mean": "mean"}  # fmt: skip


@json_keys
class Statistics(RecordFile, command="prepare"):
    """The statistics file of `xmlc prepare`, with ``notes`` on differences from published ones."""

    name: str
    digest: str
    d: Count
    m: Count
    notes: tuple[str, ...] = ()
    train: PartStatistics
    test: PartStatistics
    step: StepCosts | None = None

    @property
    def dataset_name(self) -> str:
        """Name of the dataset."""
        return self.name

    @property
    def data_digest(self) -> str:
        """Digest of the dataset."""
        return self.digest

    def numbers(self) -> Numbers:
        """Yield the dataset's size, and then the training set's five-number summaries."""
        sizes = {
            "d": self.d,
            "m": self.m,
            "n_train": self.train.instances,
            "n_test": self.test.instances,
        }
        never = {
            name: getattr(self.train, name) for name in ("labels_never_seen", "features_never_seen")
        }
        yield "", sizes | {name: getattr(self.train, name).mean for name in AVERAGES} | never
        for counted in COUNTED:
            summary = getattr(self.train, counted)
            yield counted, {name: getattr(summary, key) for name, key in SUMMARY.items()}


@dataclass(frozen=True)
class FiveNumbers:
    """Five-number summary and mean of counts, such as numbers of labels of instances."""

    min: Amount
    lower_quartile: Amount
    median: Amount
    upper_quartile: Amount
    max: Amount
    mean: Amount


@json_keys
class PartStatistics:
    """The size of a part of the dataset, and summaries of its label and feature counts.

    Those ending in ``_seen`` cover only labels or features that occur in the part, as in Tables 2
    and 5 of swnn2018, and the others all of them.
    """

    instances: Count
    labels_per_instance: FiveNumbers
    instances_per_label: FiveNumbers
    instances_per_label_seen: FiveNumbers
    activations_per_instance: FiveNumbers
    occurrences_per_feature_seen: FiveNumbers
    labels_never_seen: Count
    features_never_seen: Count


def five_numbers(counts: np.ndarray) -> FiveNumbers:
    """Summarise counts, with quartiles by linear interpolation (type 7 of Hyndman and Fan)."""
    if counts.size == 0:
        return FiveNumbers(*[0.0] * 6)
    low, lower, median, upper, high = np.quantile(counts, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return FiveNumbers(low, lower, median, upper, high, int(counts.sum()) / counts.size)


def part_statistics(X: sparse.csr_array, Y: sparse.csr_array) -> PartStatistics:
    """Return statistics of ``X``, of shape (n, d), and boolean ``Y``, of shape (n, m)."""
    label_frequency = np.bincount(Y.indices, minlength=Y.shape[1])
    feature_frequency = np.bincount(X.indices, minlength=X.shape[1])
    return PartStatistics(
        instances=X.shape[0],
        labels_per_instance=five_numbers(np.diff(Y.indptr)),
        instances_per_label=five_numbers(label_frequency),
        instances_per_label_seen=five_numbers(label_frequency[label_frequency > 0]),
        activations_per_instance=five_numbers(np.diff(X.indptr)),
        occurrences_per_feature_seen=five_numbers(feature_frequency[feature_frequency > 0]),
        labels_never_seen=int(np.count_nonzero(label_frequency == 0)),
        features_never_seen=int(np.count_nonzero(feature_frequency == 0)),
    )
