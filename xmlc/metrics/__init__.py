"""Metrics of extreme multi-label classification, all from CSR label sets."""

from xmlc.metrics.classification import (
    classification_metrics,
    hamming_loss,
    instance_f,
    instance_jaccard,
    macro_f,
    macro_jaccard,
    micro_f,
    micro_jaccard,
)
from xmlc.metrics.plots import groups_by_frequency, plot_macro_f, plot_precision_by_frequency, plot_reliability
from xmlc.metrics.ranking import (
    maximum_precision_at_k,
    ndcg_at_k,
    precision_and_ndcg,
    precision_at_k,
    propensities,
    propensity_parameters,
    psp_at_k,
)

__all__ = [
    "classification_metrics",
    "groups_by_frequency",
    "hamming_loss",
    "instance_f",
    "instance_jaccard",
    "macro_f",
    "macro_jaccard",
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
    "psp_at_k",
]
