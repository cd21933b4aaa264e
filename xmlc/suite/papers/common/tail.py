"""Declare tables of results that P@k does not show: on rare labels, and on the calibration of estimates."""

from __future__ import annotations

from xmlc.metrics.measures import RARE
from xmlc.metrics.ranking import OVER_LABELS
from xmlc.suite.config.planned import CALIBRATIONS, RANKINGS
from xmlc.suite.papers.common.rankings import MODEL_KEYS
from xmlc.suite.papers.common.thresholds import METHOD_KEYS, OF_80, OF_FULL, by_portion
from xmlc.suite.papers.declared import TableDefinition, columns
from xmlc.suite.results.records.calibration import ERRORS, PRECISION

FOUND = tuple(measure.name for measure in OVER_LABELS)
CALIBRATED = tuple(f"isotonic_{name}" for name in ERRORS)

tail = TableDefinition(
    name="tail",
    needs=(RANKINGS,),
    keys=MODEL_KEYS,
    columns=("p@1", "p@3", "p@5", *FOUND),
    panels=tuple(
        columns(title, *(name for name in FOUND if name.startswith(start)))
        for title, start in {
            "Precision of the labels": "macro_p",
            "Recall of the labels": "macro_r",
            "F of the labels": "macro_f",
            "Labels that are found": "coverage",
        }.items()
    ),
    caption="Rankings label by label, as means over the labels that the test set has. P@k counts correct labels, most "
    "of which are frequent ones: a model that never ranks a rare label loses little of P@k, and here as much as for a "
    "frequent one. Macro-precision and macro-recall are the shares of correct ones among the instances that have a "
    "label among their k first, and among those that have it; coverage is the share of labels that are found at least "
    "once.",
)
tail_f = TableDefinition(
    name="tail-f",
    needs=(OF_80, OF_FULL),
    keys=METHOD_KEYS,
    rows=by_portion,
    columns=("macro_f_present", *RARE),
    panels=(columns("", "macro_f_present", *RARE),),
    caption="Macro-F over the labels that the test set has, of all and by their numbers of instances in the training "
    "set, of which the models of 80 % have learned fewer; labels without any are in the former alone. It tells for "
    "which labels thresholds help; P@k has no thresholds, and one macro-F mixes frequent and rare labels.",
)
calibration = TableDefinition(
    name="calibration",
    needs=(CALIBRATIONS,),
    keys=MODEL_KEYS,
    columns=(*ERRORS, *CALIBRATED, *PRECISION),
    panels=(columns("Calibration error", *ERRORS, *CALIBRATED), columns("Precision", *PRECISION)),
    caption="Expected calibration error of the k labels ranked first: how far estimates are from the share of correct "
    "labels, before and after isotonic calibration on the validation set, of the same labels; by models of 80 % of the "
    "training set. It tells whether estimates are probabilities, on which thresholds and label sets rest; P@k depends "
    "on their order alone.",
)
