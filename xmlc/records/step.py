"""Files of any kind with the costs of a step, and the other columns of the table of steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from xmlc.core.passport import Passport, StepCosts
from xmlc.kernels.estimator import Hyperparameters
from xmlc.records.base import Number, Numbers, RecordedDataset, RecordFile, or_nan, read_checked
from xmlc.records.thresholds import Estimates, PartEstimates, TunedThresholds

RECORDS_IN_FOLDERS = ("source.json", Estimates.FILE, TunedThresholds.FILE)


@dataclass(frozen=True, kw_only=True)
class StepRecord(RecordFile):
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
    def read(cls, path: Path) -> Self:
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
        """Name of the dataset."""
        return self.step["dataset"]

    @property
    def model_name(self) -> str:
        """Name of the model, if the step was for one."""
        return self.step["model"] or ""

    @property
    def method_name(self) -> str:
        """Name of the method, if the step was for one."""
        return self.step["method"] or ""

    @property
    def data_digest(self) -> str:
        """Digest of the data, if the file has one."""
        return self.dataset.digest if self.dataset else self.digest

    def numbers(self) -> Numbers:
        """Yield the costs of the step."""
        yield (
            "",
            {
                "step_seconds": self.step["seconds"],
                "cpu_seconds": or_nan(self.step.get("cpu_seconds")),
                "step_peak_mb": self.step["peak_bytes"] * 1e-6,
                "disk_mb": or_nan(self.step["written_bytes"]) * 1e-6,
                "step_threads": self.step["threads"],
            },
        )
