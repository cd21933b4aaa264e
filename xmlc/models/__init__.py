"""Estimators of sparse probability estimates, by name.

An estimator is imported when it is first used: training one model must not depend on the code of the others, neither in
time nor in what makes the workflow train it again.
"""

from __future__ import annotations

from xmlc.core.lazy import lazy_names

PUBLIC = {
    "BinaryRelevance": "xmlc.models.linear.binary_relevance",
    "FastXML": "xmlc.models.fastxml",
    "LdSM": "xmlc.models.ldsm",
    "OPLT": "xmlc.models.oplt",
    "PLT": "xmlc.models.plt",
    "Parabel": "xmlc.models.parabel",
    "ProbabilisticClassifierChain": "xmlc.models.linear.classifier_chain",
    "SparseWeightedNearestNeighbors": "xmlc.models.nearest",
}

__getattr__, __dir__ = lazy_names(__name__, PUBLIC)
