"""List all measures of rankings and of label sets, and group their names by use.

Each measure is declared next to its function, in `xmlc.metrics.ranking` or
`xmlc.metrics.classification`. Every new record contains all declared measures. The CSV files and
the long table show a measure if the records contain it. Tables and the workflow import this module
and must load fast, so this module does not import numba.
"""

from __future__ import annotations

from xmlc.metrics import classification, ranking
from xmlc.metrics.classification import TUNABLE, Agreement, ByFrequency
from xmlc.metrics.measure import Measure
from xmlc.metrics.ranking import Ranked

AnyMeasure = Measure[Ranked] | Measure[Agreement] | Measure[ByFrequency]
OF_RANKINGS: tuple[AnyMeasure, ...] = (*ranking.MEASURES, *ranking.CALIBRATION)
OF_SETS: tuple[AnyMeasure, ...] = (*classification.MEASURES, *classification.MEASURES_BY_FREQUENCY)
ALL_MEASURES = (*OF_RANKINGS, *OF_SETS)
BY_NAME = {measure.name: measure for measure in ALL_MEASURES}

# Every record contains the measures in RANKING_METRICS, SET_METRICS and MAXIMA, even if an earlier
# version of xmlc wrote the record.
RANKING_METRICS = ("p@1", "p@3", "p@5", "ndcg@1", "ndcg@3", "ndcg@5", "psp@1", "psp@3", "psp@5")
SET_METRICS = (
    "macro_f",
    "macro_f_zero",
    "macro_f_present",
    "macro_f_seen",
    "micro_f",
    "instance_f",
    "hamming_loss",
)
MAXIMA = ("max_p@1", "max_p@3", "max_p@5")  # The maxima of P@k depend only on the dataset.
TUNABLE_MEASURES = tuple(TUNABLE)


def _in_tables_except(measures: tuple[AnyMeasure, ...], *names: str) -> tuple[str, ...]:
    return tuple(
        measure.name for measure in measures if measure.in_tables and measure.name not in names
    )


# A table shows the measures in FURTHER_RANKING_METRICS and FURTHER_SET_METRICS only if the table's
# records contain these measures.
FURTHER_RANKING_METRICS = _in_tables_except(OF_RANKINGS, *RANKING_METRICS, *MAXIMA)
FURTHER_SET_METRICS = _in_tables_except(OF_SETS, *SET_METRICS, *TUNABLE, "predicted_per_instance")
RARE = tuple(measure.name for measure in classification.MEASURES_BY_FREQUENCY)
# MEASURE_METHODS maps each threshold method to the measure that it optimises.
MEASURE_METHODS = {"for-" + name.replace("_", "-"): name for name in TUNABLE}
# UNLABELLED_METHODS maps each threshold method for macro-F that needs no validation set to its
# ``zero_division``. ``zero_division`` is the F-measure of a label without positives and
# predictions.
UNLABELLED_METHODS = {"expected-f": 0, "expected-f-empty": 1}
