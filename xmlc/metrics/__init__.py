"""Metrics of extreme multi-label classification, all from CSR label sets; plots are imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xmlc.core.lazy import lazy_names
from xmlc.metrics.classification import (
    classification_metrics,
    groups_by_frequency,
    hamming_loss,
    instance_f,
    instance_jaccard,
    macro_f,
    macro_jaccard,
    micro_f,
    micro_jaccard,
)
from xmlc.metrics.propensity import propensities, propensity_parameters
from xmlc.metrics.ranking import (
    coverage_at_k,
    ece_at_k,
    macro_f_at_k,
    macro_precision_at_k,
    macro_recall_at_k,
    maximum_precision_at_k,
    ndcg_at_k,
    precision_and_ndcg,
    precision_at_k,
    psndcg_at_k,
    psp_at_k,
    recall_at_k,
)

if TYPE_CHECKING:
    from xmlc.metrics.plots import plot_macro_f, plot_precision_by_frequency, plot_reliability

__all__ = [
    "classification_metrics",
    "coverage_at_k",
    "ece_at_k",
    "groups_by_frequency",
    "hamming_loss",
    "instance_f",
    "instance_jaccard",
    "macro_f",
    "macro_f_at_k",
    "macro_jaccard",
    "macro_precision_at_k",
    "macro_recall_at_k",
    "maximum_precision_at_k",
    "micro_f",
    "micro_jaccard",
    "ndcg_at_k",
    "plot_macro_f",
    "plot_precision_by_frequency",
    "plot_reliability",
    "precision_and_ndcg",
    "precision_at_k",
    "propensities",
    "propensity_parameters",
    "psndcg_at_k",
    "psp_at_k",
    "recall_at_k",
]
PLOTS = ("plot_macro_f", "plot_precision_by_frequency", "plot_reliability")
if not TYPE_CHECKING:  # which would take any name for known
    __getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(PLOTS, "xmlc.metrics.plots"))
