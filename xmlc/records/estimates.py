"""The file that `xmlc estimate` writes beside sparse probability estimates: their floor, numbers and costs."""

from __future__ import annotations

from dataclasses import dataclass

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
class Estimates(FolderFile, file="estimate.json", command="estimate"):
    """What `xmlc estimate` writes of the parts ``val`` and ``test``; estimates up to the floor are left out."""

    floor: float
    parts: dict[str, PartEstimates]
    peak_bytes: Number
    passport: Passport
    step: StepCosts
