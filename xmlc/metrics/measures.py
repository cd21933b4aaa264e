"""All measures of rankings and of label sets, and groups of their names by use.

Each is declared in `xmlc.metrics.ranking` or `xmlc.metrics.classification`.
Every new record contains all of them, and CSV files and the long table show those that their
records contain. Tables and the workflow import this module and must load fast, so it does not
import numba.
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

# In every record, also of earlier versions of xmlc, like SET_METRICS and MAXIMA
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
MAXIMA = ("max_p@1", "max_p@3", "max_p@5")  # depend only on the dataset
TUNABLE_MEASURES = tuple(TUNABLE)


def _in_tables_except(measures: tuple[AnyMeasure, ...], *names: str) -> tuple[str, ...]:
    return tuple(
        measure.name for measure in measures if measure.in_tables and measure.name not in names
    )


# A table shows these, and the further set metrics, only if its records contain them
FURTHER_RANKING_METRICS = _in_tables_except(OF_RANKINGS, *RANKING_METRICS, *MAXIMA)
FURTHER_SET_METRICS = _in_tables_except(OF_SETS, *SET_METRICS, *TUNABLE, "predicted_per_instance")
RARE = tuple(measure.name for measure in classification.MEASURES_BY_FREQUENCY)
# From a threshold method to the measure that it optimises
MEASURE_METHODS = {"for-" + name.replace("_", "-"): name for name in TUNABLE}
# From a threshold method for macro-F without a validation set to its ``zero_division``
UNLABELLED_METHODS = {"expected-f": 0, "expected-f-empty": 1}
