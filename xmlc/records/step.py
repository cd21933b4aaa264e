"""Files of any kind in which a step tells what it cost, and what else the table of steps says of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from xmlc.estimator import Hyperparameters
from xmlc.passport import Passport, StepCosts
from xmlc.records.base import Dataset, known
from xmlc.records.checked_types import read_checked
from xmlc.records.estimates import PartEstimates

if TYPE_CHECKING:
    import pandas as pd

EVERY = "all models"  # of a step that no model has its own of


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """A file that a step wrote, whichever it was.

    Attributes
    ----------
    step : StepCosts
    passport : Passport or None
    seed : int
    dataset : Dataset or None
    hyperparameters : dict or None
        Of a model, where one was trained.
    floor : float or None
    parts : dict of str to PartEstimates
        Of estimates.
    """

    KIND: ClassVar[str] = "step"

    step: StepCosts
    passport: Passport | None = None
    seed: int = 0
    dataset: Dataset | None = None
    hyperparameters: Hyperparameters | None = None
    floor: float | None = None
    parts: dict[str, PartEstimates] | None = None

    @classmethod
    def read(cls, path: Path) -> StepRecord:
        """Read one file.

        Raises
        ------
        XmlcError
            It is not readable, or tells no costs.
        """
        return read_checked(path, cls, "what a step of this version wrote")


def read_steps(paths: Iterable[Path]) -> list[StepRecord]:
    """Read files in which a step tells its costs (`xmlc.passport.step_costs`), in their order.

    Raises
    ------
    XmlcError
        A file is not readable, or tells no costs.
    """
    return [StepRecord.read(path) for path in paths]


def frame(records: Sequence[StepRecord]) -> pd.DataFrame:
    """Return one row for each step: whose it is, and its costs in the columns' units."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "dataset": record.step["dataset"],
                "model": record.step["model"] or EVERY,
                "name": record.step["name"],
                "portion": record.step["portion"],
                "method": record.step["method"],
                "seed": record.seed,
                "step_seconds": record.step["seconds"],
                "step_peak_mb": record.step["peak_bytes"] * 1e-6,
                "disk_mb": known(record.step["written_bytes"]) * 1e-6,
                "step_threads": record.step["threads"],
            }
            for record in records
        ]
    )
