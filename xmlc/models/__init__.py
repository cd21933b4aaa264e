"""The estimators, which return sparse probability estimates.

Each is imported when it is first used, so that training a model loads no code of other estimators,
and the workflow does not retrain it when only their code changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xmlc.core.lazy import lazy_names

if TYPE_CHECKING:
    from xmlc.models.fastxml import FastXML as FastXML
    from xmlc.models.ldsm import LdSM as LdSM
    from xmlc.models.linear.binary_relevance import BinaryRelevance as BinaryRelevance
    from xmlc.models.linear.classifier_chain import (
        ProbabilisticClassifierChain as ProbabilisticClassifierChain,
    )
    from xmlc.models.nearest import SparseWeightedNearestNeighbors as SparseWeightedNearestNeighbors
    from xmlc.models.oplt import OPLT as OPLT
    from xmlc.models.parabel import Parabel as Parabel
    from xmlc.models.plt import PLT as PLT
    from xmlc.models.stacking import Stacking as Stacking

lazy_names(__name__)
