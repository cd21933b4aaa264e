"""Files of any kind with the costs of a step, and the other columns of the table of steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from xmlc.core.passport import Passport, StepCosts
from xmlc.kernels.estimator import Hyperparameters
from xmlc.records.base import Number, RecordedDataset, or_nan, read_checked
from xmlc.records.thresholds import Estimates, PartEstimates, TunedThresholds

if TYPE_CHECKING:
    import pandas as pd

EVERY = "all models"  # of a step that no model has its own of


RECORDS_IN_FOLDERS = ("source.json", Estimates.FILE, TunedThresholds.FILE)


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """A file that any step wrote: the step's costs, and the following where the file has them.

    Attributes
    ----------
    kind : str
        Of the record, where the file is one of an experiment.
    step : StepCosts
    passport : Passport or None
    dataset : RecordedDataset or None
    digest : str
        Of the data, where the file is its statistics.
    hyperparameters : dict or None
    seed : int or None
    costs : dict of str to float, or None
        Of what was measured within the step.
    floor : float or None
    parts : dict of str to PartEstimates
        Of estimates.
    """

    KIND: ClassVar[str] = "step"

    kind: str = ""
    step: StepCosts
    passport: Passport | None = None
    dataset: RecordedDataset | None = None
    digest: str = ""
    hyperparameters: Hyperparameters | None = None
    seed: int | None = None
    costs: dict[str, Number | None] | None = None
    floor: float | None = None
    parts: dict[str, PartEstimates] | None = None

    @classmethod
    def read(cls, path: Path) -> StepRecord:
        """Read the file of one step, or a folder with one.

        Raises
        ------
        XmlcError
            It is not readable, or has no costs.
        """
        found = (path / name for name in RECORDS_IN_FOLDERS)
        file = next((file for file in found if file.is_file()), path)
        return read_checked(file, cls, "what a step of this version wrote")

    @property
    def dataset_name(self) -> str:
        """Name of the dataset, as of every kind of file."""
        return self.step["dataset"]

    @property
    def model_name(self) -> str | None:
        """The model, likewise, if the step was for one."""
        return self.step["model"]

    @property
    def method_name(self) -> str | None:
        """The method, likewise."""
        return self.step["method"]

    @property
    def data_digest(self) -> str:
        """The digest of the data, likewise; empty where the file has none."""
        return self.dataset.digest if self.dataset else self.digest


def read_steps(paths: Iterable[Path]) -> list[StepRecord]:
    """Read files that hold the costs of a step (`xmlc.core.passport.step_costs`), in their order.

    Raises
    ------
    XmlcError
        A file is not readable, or has no costs.
    """
    return [StepRecord.read(path) for path in paths]


def frame(records: Sequence[StepRecord]) -> pd.DataFrame:
    """Return one row for each step: whose it is, and its costs in the columns' units."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "dataset": record.dataset_name,
                "model": record.model_name or EVERY,
                "seed": record.seed or 0,
                "step_seconds": record.step["seconds"],
                "cpu_seconds": or_nan(record.step.get("cpu_seconds")),
                "step_peak_mb": record.step["peak_bytes"] * 1e-6,
                "disk_mb": or_nan(record.step["written_bytes"]) * 1e-6,
                "step_threads": record.step["threads"],
            }
            for record in records
        ]
    )
