"""The tables of every suite, among them Tables 1 to 4 of plt2016.

A paper's table of the same name takes precedence.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.metrics import measures as known
from xmlc.metrics.ranking import OVER_LABELS
from xmlc.suite.config.planned import BASELINE_METHODS, CALIBRATIONS, RANKINGS, Where
from xmlc.suite.config.suite import ModelSpec
from xmlc.suite.papers.common.hyperparameters import table3 as table3
from xmlc.suite.papers.tables import PanelSpec, Table, TableSpec, by_method, columns, datasets
from xmlc.suite.results.columns import column
from xmlc.suite.results.numbers import mean_over_seeds
from xmlc.suite.results.records import calibration as calibrated
from xmlc.suite.results.records.base import DATASET_COLUMNS
from xmlc.suite.results.records.inference import ESTIMATES
from xmlc.suite.results.titles import CONVENTIONS, METHODS, measure_of, method_title, model_title

MODEL_KEYS = ("dataset", "model")
METHOD_KEYS = (*MODEL_KEYS, "method")
PRECISION = ("p@1", "p@3", "p@5")
PROPENSITY_SCORED = ("psp@1", "psp@3", "psp@5")
THREADS = ("train_threads", "predict_threads")

# --- Rankings ---

table1 = TableSpec(
    name="table1",
    needs=(RANKINGS,),
    keys=MODEL_KEYS,
    more=(
        *known.RANKING_METRICS,
        *known.FURTHER_RANKING_METRICS,
        "predict_ms",
        "inner_products",
        "model_mb",
        "train_peak_mb",
        "predict_peak_mb",
        *THREADS,
    ),
    panels=(
        datasets(*DATASET_COLUMNS),
        columns("Ranking on the test set, and training time", *PRECISION, "train_minutes"),
    ),
    caption=(
        "The datasets, precision@k on the test set, and training time on the whole training set."
    ),
)

CPU = (
    "CPU times of training are sums over all threads and processes, without reading and writing "
    "files."
)
passes = TableSpec(
    name="passes",
    needs=(RANKINGS,),
    keys=MODEL_KEYS,
    more=THREADS,
    panels=(
        columns(
            "",
            *PRECISION,
            *PROPENSITY_SCORED,
            "train_cpu_seconds",
            "predict_ms",
            "model_mb",
            "train_peak_mb",
        ),
    ),
    notes=(CPU,),
    caption="Every method with 1 and with 3 passes over the training set.",
)


def _baselines(table: Table) -> Mapping[str, ModelSpec]:
    if table.suite:
        return table.suite.baselines
    return {}


def _with_macro_f(table: Table) -> pd.DataFrame:
    own = table.own
    means = mean_over_seeds(own[own["need"] == 0], MODEL_KEYS)
    tuned = mean_over_seeds(own[(own["need"] == 1) & (own["quantity"] == "macro_f")], METHOD_KEYS)
    tuned = tuned.merge(means[[*MODEL_KEYS]].drop_duplicates(), on=MODEL_KEYS)
    rows = pd.concat([means, tuned.assign(quantity=tuned["method"])], ignore_index=True)
    places = {model: place for place, model in enumerate(_baselines(table), start=1)}
    return rows.iloc[rows["model"].map(places).fillna(0).argsort(kind="stable")]


def _about(table: Table) -> list[str]:
    notes = []
    for name, model in _baselines(table).items():
        title = model_title(name)
        run = {*table.means.loc[table.means["model"] == name, "dataset"]}
        for dataset in table.means["dataset"].unique():
            if dataset not in run:
                reason = model.without.get(dataset, "not run, needs the extra `baselines`")
                notes.append(f"{title} is missing on {dataset}: {reason}.")
        if run and model.skip_thresholds:
            notes.append(f"{title} has no macro-F: {model.skip_thresholds}.")
        if run and model.untuned:
            notes.append(f"{title} is not tuned: {model.untuned}.")
    return notes


COSTS = ("train_seconds", "predict_ms", "model_mb", "train_peak_mb", "predict_peak_mb")
baselines = TableSpec(
    name="baselines",
    needs=(
        Where("ranking", "full", baselines=True),
        Where("thresholds", "80", methods=BASELINE_METHODS, baselines=True),
    ),
    keys=MODEL_KEYS,
    rows=_with_macro_f,
    panels=(
        columns(
            "Quality and cost",
            *(*PRECISION, *BASELINE_METHODS, *COSTS, *THREADS),
            optional=BASELINE_METHODS,
            headings={name: f"Macro-F, {method_title(name)} (%)" for name in BASELINE_METHODS},
            contests={name: name for name in (*PRECISION, *COSTS)}
            | dict.fromkeys(BASELINE_METHODS, "macro_f"),
        ),
        columns("Propensity-scored precision", *PROPENSITY_SCORED),
    ),
    notes=(
        "Rankings: models are trained on the whole training set, and predict the five best labels "
        "of each instance.",
        "Times include the conversion of data from Python to the format of a program.",
        "MB are 10^6 bytes. A model's size is the size of its files. Peak memory includes the "
        "whole process.",
        *CONVENTIONS,
        _about,
    ),
    takes_suite=True,
    caption="Quality and cost of xmlc's models and of baselines on the same data and machine.",
)

# --- Label sets by thresholds ---

# Only `table4` and `measures` show these methods.
FOR_OTHERS = ("ofo-ab", *known.MEASURE_METHODS)
OF_80 = Where("thresholds", "80", but_methods=FOR_OTHERS)
OF_FULL = Where("thresholds", "full", but_methods=FOR_OTHERS)

table2 = TableSpec(
    name="table2",
    needs=(OF_80, OF_FULL),
    keys=METHOD_KEYS,
    columns=(
        *("macro_f", "test_ms", "inner_products"),
        *known.SET_METRICS,
        *known.FURTHER_SET_METRICS,
        *(
            "predicted_per_instance",
            "validation_macro_f",
            "c",
            "a",
            "b",
            "tune_seconds",
            "test_threads",
        ),
    ),
    panels=(
        by_method("macro_f", "Macro-F on the test set (%)"),
        by_method("test_ms", "Time per test instance (ms)"),
        by_method("inner_products", "Inner products per test instance"),
    ),
    notes=(
        *CONVENTIONS,
        "A label without test instances counts 0 if it is predicted. The CSV file has more "
        "variants of macro-F.",
        "FTA: fixed thresholds approach, STO: search-based threshold optimization, OFO: online "
        "F-measure optimization.",
    ),
    caption="Macro-F and costs of prediction on the test set, with thresholds tuned on the "
    "validation set.",
)


def _tuned_ofo(table: Table) -> pd.DataFrame:
    means = mean_over_seeds(table.own, METHOD_KEYS)
    tuned = means[means["method"] == "ofo-ab"]
    macro_f = means[means["quantity"] == "macro_f"]
    others = macro_f[macro_f["method"].isin(["fta", "sto"])]
    others = others.merge(tuned[[*MODEL_KEYS]].drop_duplicates(), on=MODEL_KEYS)
    ofo = tuned[tuned["quantity"] == "macro_f"].assign(quantity="test_macro_f")
    return pd.concat([tuned, ofo, others.assign(quantity=others["method"])], ignore_index=True)


table4 = TableSpec(
    name="table4",
    needs=tuple(
        Where("thresholds", "80", methods=names) for names in (("ofo-ab",), ("fta", "sto"))
    ),
    keys=("model", "dataset"),
    rows=_tuned_ofo,
    more=(
        "micro_f",
        "instance_f",
        "predicted_per_instance",
        "inner_products",
        "test_ms",
        "tune_seconds",
        "test_threads",
    ),
    panels=(
        columns(
            "",
            *("a", "b", "validation_macro_f", "test_macro_f", "fta", "sto"),
            headings={"validation_macro_f": "OFO, valid. (%)", "test_macro_f": "OFO (%)"},
            contests=dict.fromkeys(("test_macro_f", "fta", "sto"), "test"),
        ),
    ),
    notes=CONVENTIONS,
    caption="Macro-F on the test set when both parameters of OFO, a and b, are tuned on the "
    "validation set.",
)


def _by_measure(table: Table) -> pd.DataFrame:
    """Return the means over seeds, with a row for each measure that thresholds were tuned for.

    This measure is in brackets. Measures without such a row are hidden, as are records of methods
    that xmlc does not have.
    """
    numbers = table.own
    numbers = numbers.assign(tuned_for=numbers["method"].replace(known.MEASURE_METHODS))
    numbers = numbers[numbers["tuned_for"].isin([*known.TUNABLE_MEASURES, *METHODS])]
    means = mean_over_seeds(numbers, measures.keys)
    tuned = means["tuned_for"].map(measure_of)
    table.hidden = tuple(name for name in known.TUNABLE_MEASURES if name not in {*tuned})
    return means.assign(mark=np.where(means["quantity"] == tuned, "brackets", ""))


measures = TableSpec(
    name="measures",
    needs=(
        Where("thresholds", "80", methods=(*known.MEASURE_METHODS, *known.UNLABELLED_METHODS)),
        OF_FULL,
    ),
    keys=(*MODEL_KEYS, "tuned_for"),
    rows=_by_measure,
    more=("c", "inner_products", "test_ms", "tune_seconds", "test_threads"),
    panels=(
        columns(
            "",
            *(*known.TUNABLE_MEASURES, "predicted_per_instance"),
            each="model",
            headings={name: column(name).title for name in known.TUNABLE_MEASURES}
            | {"predicted_per_instance": "pred./inst."},
        ),
    ),
    notes=(
        *CONVENTIONS,
        "Each label has a separate threshold for macro measures, and all labels share one for the "
        "other measures.",
        "F2 weights recall twice as much as precision.",
    ),
    caption="All measures on the test set (%). In each row, thresholds are tuned for the measure "
    "in brackets.",
)

# --- Label sets that inference methods compute for each instance from sparse estimates ---

# The best common threshold, a baseline for inference methods
THRESHOLD = "for-instance-f"
INFERRED_MEASURES = (
    "instance_f",
    "expected_f",
    "truncation_loss",
    "predicted_per_instance",
    "infer_ms",
    "estimate_ms",
)
# Costs of a threshold, shown as costs of inference
COSTS_OF_THRESHOLD = {"test_ms": "estimate_ms", "test_threads": "inference_threads"}
INSTANCE_F_CONVENTION = (
    "F is the mean over the test instances. F is 1 if both sets are empty (gfm2011's equation 1)."
)


def timeouts(table: Table) -> list[str]:
    """Return notes on runs that reached the time limit, whose numbers are dashes."""
    stopped = table.means[table.means["quantity"] == "note"].dropna(subset="value")
    notes = []
    for row in stopped.itertuples():
        notes.append(
            f"A dash: {row.value} on {row.dataset} with {model_title(row.model)} "
            f"{method_title(row.method)}."
        )
    return notes


def _beside_thresholds(table: Table) -> pd.DataFrame:
    numbers = table.numbers
    truncated = numbers[(numbers["quantity"] == "min_probability") & (numbers["need"] == 0)].dropna(
        subset="value"
    )
    if truncated.empty:
        raise XmlcError(
            "instance-f: found no record of estimates with a minimum probability. Run `xmlc "
            "thresholds --infer` first"
        )
    table.numbers = numbers[(numbers["need"] == 1) | numbers["record"].isin({*truncated["record"]})]
    own = table.own
    inferred = mean_over_seeds(own[own["need"] == 0], METHOD_KEYS)
    tuned = own[own["need"] == 1]
    best = mean_over_seeds(
        tuned.assign(quantity=tuned["quantity"].replace(COSTS_OF_THRESHOLD)), METHOD_KEYS
    )
    best = best.merge(inferred[[*MODEL_KEYS]].drop_duplicates(), on=MODEL_KEYS)
    return pd.concat([best, inferred], ignore_index=True)


instance_f = TableSpec(
    name="instance-f",
    needs=(
        # In records of earlier versions.
        Where("inference", "80", but_methods=("gfm-sizes",)),
        Where("thresholds", "80", methods=(THRESHOLD,)),
    ),
    keys=METHOD_KEYS,
    rows=_beside_thresholds,
    columns=(
        *INFERRED_MEASURES,
        "micro_f",
        "macro_f",
        "hamming_loss",
        "inference_threads",
        *ESTIMATES,
        "m",
        "note",
    ),
    panels=(
        columns(
            "",
            *INFERRED_MEASURES,
            each="model",
            names=("dataset", "method"),
            contests={"instance_f": "instance_f"},
        ),
        columns("Estimates", "m", *ESTIMATES, names=MODEL_KEYS, contests={}),
    ),
    notes=(
        INSTANCE_F_CONVENTION,
        "Expected F is the F-measure that a method predicts for its label sets, if labels are "
        "independent.",
        "Inferring is the time to compute the label sets from the estimates. Thresholds need no "
        "time for inferring.",
        "Models are trained on 80 % of the training set. A label without an estimate is never "
        "predicted.",
        "Lost expected F: a bound on the loss of exact methods if missing estimates are below the "
        "minimum probability.",
        timeouts,
    ),
    caption="Instance-F on the test set. The best threshold has the highest instance-F on the "
    "validation set.",
)

# --- Rare labels, and the calibration of estimates, which P@k does not measure ---

OF_LABELS = [measure.name for measure in OVER_LABELS]


def _over_labels(title: str, start: str) -> PanelSpec:
    return columns(title, *(name for name in OF_LABELS if name.startswith(start)))


tail = TableSpec(
    name="tail",
    needs=(RANKINGS,),
    keys=MODEL_KEYS,
    columns=(*PRECISION, *OF_LABELS),
    panels=(
        _over_labels("Precision over labels", "macro_p"),
        _over_labels("Recall over labels", "macro_r"),
        _over_labels("F over labels", "macro_f"),
        _over_labels("Coverage of labels", "coverage"),
    ),
    notes=(
        "P@k counts correct labels, most of which are frequent. In means over labels, all labels "
        "have the same weight.",
        "The precision of a label is the share of correct ones among its predictions at ranks 1 "
        "to k.",
        "The recall of a label is the share of its instances for which the label is among the "
        "first k predictions.",
        "Coverage is the share of labels that are ranked correctly at least once.",
    ),
    caption="Rankings on the test set, as means over the labels that occur there.",
)
tail_f = TableSpec(
    name="tail-f",
    needs=(OF_80, OF_FULL),
    keys=METHOD_KEYS,
    panels=(columns("", "macro_f_present", *known.RARE),),
    notes=(
        "Labels without training instances count only in the mean over all labels.",
        "Labels are grouped by their number of instances in the whole training set, even if "
        "models use 80 % of it.",
    ),
    caption="Macro-F over the labels in the test set: all labels, and groups by number of training "
    "instances.",
)
calibration = TableSpec(
    name="calibration",
    needs=(CALIBRATIONS,),
    keys=MODEL_KEYS,
    panels=(
        columns(
            "Calibration error",
            *calibrated.ERRORS,
            *(f"isotonic_{name}" for name in calibrated.ERRORS),
        ),
        columns("Precision", *calibrated.PRECISION),
    ),
    notes=(
        "Models are trained on 80 % of the training set. P@k depends only on the order of "
        "estimates.",
        "Calibrated: the error after isotonic calibration on the validation set, for the same "
        "labels as before it.",
    ),
    caption="Expected calibration error of the first k labels: how far estimates are from the "
    "share of correct labels.",
)
