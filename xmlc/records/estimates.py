"""The file that `xmlc estimate` writes beside sparse probability estimates: their floor, numbers and costs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Self

from xmlc.files import write_json
from xmlc.passport import Passport, StepCosts
from xmlc.records.base import Number, expected_of, read_checked


@dataclass(frozen=True, kw_only=True)
class PartEstimates:
    """How many estimates one part has, and what they cost; None where a model does not tell."""

    instances: int
    estimates_per_instance: Number
    inner_products_per_instance: Number | None
    ms_per_instance: Number | None


@dataclass(frozen=True, kw_only=True)
class Estimates:
    """What `xmlc estimate` writes.

    Attributes
    ----------
    floor : float
        Estimates up to here are left out.
    parts : dict of str to PartEstimates
        ``val`` and ``test``.
    peak_bytes : int
    passport : Passport
    step : StepCosts
    """

    FILE: ClassVar[str] = "estimate.json"

    floor: float
    parts: dict[str, PartEstimates]
    peak_bytes: Number
    passport: Passport
    step: StepCosts

    def write(self, folder: Path) -> None:
        """Write the file into the folder of the estimates."""
        write_json(folder / self.FILE, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the file in the folder of the estimates.

        Raises
        ------
        XmlcError
            It is not readable, or lacks something.
        """
        return read_checked(folder / cls.FILE, cls, expected_of("estimate"))
