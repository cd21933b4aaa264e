"""Define the record of `xmlc rank`, which is next to the ranked labels."""

from __future__ import annotations

from typing import ClassVar

from xmlc.suite.results.records.base import Fraction, json_keys
from xmlc.suite.results.records.ranking import RankingCosts
from xmlc.suite.results.records.training import ModelRecord


@json_keys
class RankedRecord(ModelRecord, command="rank"):
    """The part of a ranking's record without measures, which `xmlc score` adds.

    ``certified`` is described in `RankingRecord`.
    """

    FILE: ClassVar[str] = "rank.json"
    LABELS: ClassVar[str] = "labels.npy"  # int32 (n_test, DEPTH), best first, padded with -1
    DEPTH: ClassVar[int] = 5  # The papers' measures are of the five best labels.

    costs: RankingCosts
    certified: Fraction | None = None
