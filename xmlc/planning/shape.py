"""The sizes of a dataset on which the costs of a job depend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from xmlc.planning.occurrences import Occurrences

if TYPE_CHECKING:
    from xmlc.records.statistics import Statistics

# Where the catalogue does not say: an instance of the papers' sets has 20 to 700 features and 2 to 75 labels.
NONZEROS, LABELS_PER_INSTANCE = 100.0, 5.0
COUNTS = {"n_train": 50_000, "n_test": 10_000, "n_features": 100_000, "n_labels": 50_000}
PRINTED = {"n_features": "d", "n_labels": "m"}  # names of the counts that papers print


@dataclass(frozen=True)
class Shape:
    """How large a dataset is.

    Attributes
    ----------
    n_train, n_test, d, m : float
        Instances of both parts, features, labels.
    nonzeros, labels_per_instance : float
        Averages over the training set.
    features : Occurrences
        Training instances that each feature occurs in.
    """

    n_train: float
    n_test: float
    d: float
    m: float
    nonzeros: float
    labels_per_instance: float
    features: Occurrences

    @classmethod
    def of_statistics(cls, found: Statistics) -> Self:
        """Take the counts of a prepared dataset."""
        train = found.train
        return cls(
            train.instances,
            found.test.instances,
            found.d,
            found.m,
            train.activations_per_instance.mean,
            train.labels_per_instance.mean,
            Occurrences.of_summary(found.d - train.features_never_seen, train.occurrences_per_feature_seen),
        )

    @classmethod
    def of_entry(cls, counts: Mapping[str, object]) -> Self:
        """Take what the catalogue says, printed by a paper or parameters of `xmlc synth`, and else common values."""

        def count(name: str, otherwise: float) -> float:
            found = counts.get(name, counts.get(PRINTED.get(name, name)))
            return float(found) if isinstance(found, (int, float)) else otherwise

        n_train, n_test, d, m = (count(name, otherwise) for name, otherwise in COUNTS.items())
        nonzeros = min(count("nonzeros", NONZEROS), d)
        labels = min(count("labels_per_instance", LABELS_PER_INSTANCE), m)
        return cls(n_train, n_test, d, m, nonzeros, labels, Occurrences.zipf(d, n_train * nonzeros, n_train))

    def sampled(self, share: float) -> Self:
        """Return the shape with a share of the training instances; features keep how often they occur in all."""
        return replace(self, n_train=share * self.n_train, features=self.features.thinned(share))

    @property
    def values(self) -> float:
        """Non-zeros of the training set."""
        return self.n_train * self.nonzeros

    @property
    def test_values(self) -> float:
        """Non-zeros of the test set, if its instances are like the training set's."""
        return self.n_test * self.nonzeros

    @property
    def pairs(self) -> float:
        """Pairs of a training instance and a label of it."""
        return self.n_train * self.labels_per_instance

    def features_of(self, instances: float | np.ndarray) -> np.ndarray:
        """Return how many features occur in so many random instances: at least those of one."""
        return np.maximum(self.features.within(np.asarray(instances) / self.n_train), min(self.nonzeros, self.d))

    def instances_of(self, labels: float | np.ndarray) -> np.ndarray:
        """Return how many training instances have one of so many random labels."""
        chance = min(self.labels_per_instance / self.m, 1.0)  # that an instance has a given label
        return self.n_train * (1 - np.power(1 - chance, np.asarray(labels, dtype=np.float64)))
