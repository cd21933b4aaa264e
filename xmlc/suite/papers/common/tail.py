"""Declare tables on rare labels and on the calibration of estimates. P@k does not measure these two properties."""

from __future__ import annotations

from xmlc.metrics.measures import RARE
from xmlc.metrics.ranking import OVER_LABELS
from xmlc.suite.config.planned import CALIBRATIONS, RANKINGS
from xmlc.suite.papers.common.rankings import MODEL_KEYS
from xmlc.suite.papers.common.thresholds import METHOD_KEYS, OF_80, OF_FULL, by_split
from xmlc.suite.papers.declared import TableDefinition, columns
from xmlc.suite.results.records.calibration import ERRORS, PRECISION

FOUND = tuple(measure.name for measure in OVER_LABELS)
FITTED = tuple(f"isotonic_{name}" for name in ERRORS)

tail = TableDefinition(
    name="tail",
    needs=(RANKINGS,),
    keys=MODEL_KEYS,
    columns=("p@1", "p@3", "p@5", *FOUND),
    panels=tuple(
        columns(title, *(name for name in FOUND if name.startswith(start)))
        for title, start in {
            "Precision over labels": "macro_p",
            "Recall over labels": "macro_r",
            "F over labels": "macro_f",
            "Coverage of labels": "coverage",
        }.items()
    ),
    notes=(
        "P@k counts correct labels, most of which are frequent. Here each label has the same weight.",
        "Precision is the share of instances with the label among the instances that have it in their first k.",
        "Recall is the share of the label's instances that have it in their first k.",
        "Coverage is the share of labels that are ranked correctly at least once.",
    ),
    caption="Rankings on the test set, as means over the labels that occur there.",
)
tail_f = TableDefinition(
    name="tail-f",
    needs=(OF_80, OF_FULL),
    keys=METHOD_KEYS,
    rows=by_split,
    panels=(columns("", "macro_f_present", *RARE),),
    notes=(
        "Labels without training instances count only in the mean over all labels.",
        "Models trained on 80 % have seen fewer instances of a label than its group states.",
    ),
    caption="Macro-F over the labels in the test set: over all of them, and by their number of training instances.",
)
calibration = TableDefinition(
    name="calibration",
    needs=(CALIBRATIONS,),
    keys=MODEL_KEYS,
    panels=(columns("Calibration error", *ERRORS, *FITTED), columns("Precision", *PRECISION)),
    notes=(
        "Models are trained on 80 % of the training set. P@k depends only on the order of estimates.",
        "Calibrated: the same labels after isotonic calibration on the validation set.",
    ),
    caption="Expected calibration error of the first k labels: how far estimates are from the share of correct labels.",
)
