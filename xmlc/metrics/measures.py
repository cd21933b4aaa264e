"""Every measure of rankings and of label sets, and their names by use.

A measure is declared beside its function, in `xmlc.metrics.ranking` or `xmlc.metrics.classification`. One that is added
there is computed for every new record, and stands in the CSV files and in the long table, where records have it. This
module imports no numba: tables and the workflow read it.
"""

from __future__ import annotations

from xmlc.metrics import classification, ranking
from xmlc.metrics.classification import TUNABLE, Sets
from xmlc.metrics.measure import Measure
from xmlc.metrics.ranking import Ranked

AnyMeasure = Measure[Ranked] | Measure[Sets]
RANKING_MEASURES, SET_MEASURES = ranking.MEASURES, classification.MEASURES
ALL_MEASURES: tuple[AnyMeasure, ...] = (*RANKING_MEASURES, *SET_MEASURES)
BY_NAME = {measure.name: measure for measure in ALL_MEASURES}

RANKING_METRICS = tuple(measure.name for measure in RANKING_MEASURES if measure.required)
MAXIMA = tuple(measure.name for measure in RANKING_MEASURES if measure.kind == "constant")  # of the dataset
FURTHER_RANKING_METRICS = tuple(
    measure.name
    for measure in RANKING_MEASURES
    if measure.in_tables and measure.name not in (*RANKING_METRICS, *MAXIMA)
)
SET_METRICS = tuple(measure.name for measure in SET_MEASURES if measure.required and measure.is_share)
TUNABLE_MEASURES = tuple(TUNABLE)
FURTHER_SET_METRICS = tuple(
    measure.name for measure in SET_MEASURES if not measure.required and measure.name not in TUNABLE
)
LABEL_WISE = "_labelwise"
# Threshold method: the measure that it is for, and behind it a variant of the method.
MEASURE_METHODS = {
    "for-" + name.replace("_", "-"): name
    for name in (*TUNABLE, *(name + LABEL_WISE for name in TUNABLE if TUNABLE[name].average == "micro"))
}
# Threshold methods for macro-F without a validation set: the F-measure of a label without positives and predictions.
UNLABELLED_METHODS = {"expected-f": 0, "expected-f-empty": 1}
