"""Declare tables on rare labels and on the calibration of estimates, which P@k does not measure."""

from __future__ import annotations

from xmlc.metrics.measures import RARE
from xmlc.metrics.ranking import OVER_LABELS
from xmlc.suite.config.planned import CALIBRATIONS, RANKINGS
from xmlc.suite.papers.common.rankings import MODEL_KEYS
from xmlc.suite.papers.common.thresholds import METHOD_KEYS, OF_80, OF_FULL
from xmlc.suite.papers.tables import TableSpec, columns
from xmlc.suite.results.records.calibration import ERRORS, PRECISION

FOUND = tuple(measure.name for measure in OVER_LABELS)
FITTED = tuple(f"isotonic_{name}" for name in ERRORS)


def _at_ranks(start: str) -> list[str]:
    return [name for name in FOUND if name.startswith(start)]


tail = TableSpec(
    name="tail",
    needs=(RANKINGS,),
    keys=MODEL_KEYS,
    columns=("p@1", "p@3", "p@5", *FOUND),
    panels=(
        columns("Precision over labels", *_at_ranks("macro_p")),
        columns("Recall over labels", *_at_ranks("macro_r")),
        columns("F over labels", *_at_ranks("macro_f")),
        columns("Coverage of labels", *_at_ranks("coverage")),
    ),
    notes=(
        "P@k counts correct labels, most of which are frequent. In means over labels, all labels have the same weight.",
        "The precision of a label is the share of correct ones among its predictions at ranks 1 to k.",
        "The recall of a label is the share of its instances for which the label is among the first k predictions.",
        "Coverage is the share of labels that are ranked correctly at least once.",
    ),
    caption="Rankings on the test set, as means over the labels that occur there.",
)
tail_f = TableSpec(
    name="tail-f",
    needs=(OF_80, OF_FULL),
    keys=METHOD_KEYS,
    panels=(columns("", "macro_f_present", *RARE),),
    notes=(
        "Labels without training instances count only in the mean over all labels.",
        "Labels are grouped by their number of instances in the whole training set, even if models use 80 % of it.",
    ),
    caption="Macro-F over the labels in the test set: all labels, and groups by number of training instances.",
)
calibration = TableSpec(
    name="calibration",
    needs=(CALIBRATIONS,),
    keys=MODEL_KEYS,
    panels=(columns("Calibration error", *ERRORS, *FITTED), columns("Precision", *PRECISION)),
    notes=(
        "Models are trained on 80 % of the training set. P@k depends only on the order of estimates.",
        "Calibrated: the error after isotonic calibration on the validation set, for the same labels as before it.",
    ),
    caption="Expected calibration error of the first k labels: how far estimates are from the share of correct labels.",
)
