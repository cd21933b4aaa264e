"""Metrics of extreme multi-label classification, from CSR label sets or rankings.

Plots are imported on first use.
"""

from typing import TYPE_CHECKING

from xmlc.core.lazy import lazy_names

if TYPE_CHECKING:
    from xmlc.metrics.classification import classification_metrics as classification_metrics
    from xmlc.metrics.classification import groups_by_frequency as groups_by_frequency
    from xmlc.metrics.classification import hamming_loss as hamming_loss
    from xmlc.metrics.classification import instance_f as instance_f
    from xmlc.metrics.classification import instance_jaccard as instance_jaccard
    from xmlc.metrics.classification import macro_f as macro_f
    from xmlc.metrics.classification import macro_jaccard as macro_jaccard
    from xmlc.metrics.classification import micro_f as micro_f
    from xmlc.metrics.classification import micro_jaccard as micro_jaccard
    from xmlc.metrics.label_averages import coverage_at_k as coverage_at_k
    from xmlc.metrics.label_averages import macro_f1_at_k as macro_f1_at_k
    from xmlc.metrics.label_averages import macro_precision_at_k as macro_precision_at_k
    from xmlc.metrics.label_averages import macro_recall_at_k as macro_recall_at_k
    from xmlc.metrics.plots import plot_macro_f as plot_macro_f
    from xmlc.metrics.plots import plot_precision_by_frequency as plot_precision_by_frequency
    from xmlc.metrics.plots import plot_reliability as plot_reliability
    from xmlc.metrics.propensity import propensities as propensities
    from xmlc.metrics.propensity import propensity_parameters as propensity_parameters
    from xmlc.metrics.ranking import ece_at_k as ece_at_k
    from xmlc.metrics.ranking import maximum_precision_at_k as maximum_precision_at_k
    from xmlc.metrics.ranking import ndcg_at_k as ndcg_at_k
    from xmlc.metrics.ranking import precision_and_ndcg as precision_and_ndcg
    from xmlc.metrics.ranking import precision_at_k as precision_at_k
    from xmlc.metrics.ranking import psndcg_at_k as psndcg_at_k
    from xmlc.metrics.ranking import psp_at_k as psp_at_k
    from xmlc.metrics.ranking import recall_at_k as recall_at_k

lazy_names(__name__)
