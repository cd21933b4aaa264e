"""The file that `xmlc estimate` writes beside sparse probability estimates: their floor, numbers and costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xmlc.passport import Passport, StepCosts
from xmlc.records.base import FolderFile, Number


@dataclass(frozen=True, kw_only=True)
class PartEstimates:
    """How many estimates one part has, and what they cost; None where a model does not report it."""

    instances: int
    estimates_per_instance: Number
    inner_products_per_instance: Number | None
    ms_per_instance: Number | None


@dataclass(frozen=True, kw_only=True)
class Estimates(FolderFile):
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
    COMMAND: ClassVar[str] = "estimate"

    floor: float
    parts: dict[str, PartEstimates]
    peak_bytes: Number
    passport: Passport
    step: StepCosts
