"""The file of statistics that `xmlc prepare` writes about a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from xmlc.core.errors import XmlcError
from xmlc.core.files import write_record
from xmlc.core.passport import StepCosts
from xmlc.data.statistics import Count, PartStatistics
from xmlc.records.base import read_checked

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """Statistics file of `xmlc prepare`.

    Attributes
    ----------
    name, digest : str
        Of the dataset.
    d, m : int
        Numbers of features and labels.
    notes : tuple of str
        How the data differs from the published numbers, and how many labels are without instances.
    train, test : PartStatistics
    step : StepCosts or None
    """

    KIND: ClassVar[str] = "statistics"

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
        """Name of the dataset, as of every kind of file."""
        return self.name

    @property
    def model_name(self) -> str | None:
        """No model."""
        return None

    @property
    def method_name(self) -> str | None:
        """No method."""
        return None

    @property
    def data_digest(self) -> str:
        """The digest of the data, as of every kind of file."""
        return self.digest

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        write_record(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> Statistics:
        """Read one file.

        Raises
        ------
        XmlcError
            It is not readable, or lacks something.
        """
        return read_checked(path, cls, "statistics by `xmlc prepare` of this version")


def read_statistics(paths: Iterable[Path]) -> list[Statistics]:
    """Read files of statistics, in their order.

    Raises
    ------
    XmlcError
        A file is not readable, lacks something, or is the second of a dataset.
    """
    found: dict[str, Statistics] = {}
    for path in paths:
        content = Statistics.read(path)
        if content.name in found:
            raise XmlcError(f"{path}: second statistics of {content.name}; give each dataset once")
        found[content.name] = content
    return list(found.values())


def frame(records: Sequence[Statistics]) -> pd.DataFrame:
    """Return one row for each dataset: its sizes, and the means over its training set."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "dataset": record.name,
                "d": record.d,
                "m": record.m,
                "n_train": record.train.instances,
                "n_test": record.test.instances,
                "labels_per_instance": record.train.labels_per_instance.mean,
                "instances_per_label": record.train.instances_per_label.mean,
            }
            for record in records
        ]
    )
