"""Declare the tables of rankings.

The tables show P@k and training time (Table 1 of plt2016), baselines, and a comparison of 1 and 3 passes.
"""

from __future__ import annotations

from xmlc.metrics.measures import FURTHER_RANKING_METRICS, RANKING_METRICS
from xmlc.suite.config.planned import BASELINE_METHODS, RANKINGS, Where
from xmlc.suite.papers.common.thresholds import hashed
from xmlc.suite.papers.declared import Table, TableDefinition, columns, datasets
from xmlc.suite.papers.notes import threads_of
from xmlc.suite.results.frame import Rows, average, make_row
from xmlc.suite.results.records.base import DATASET_COLUMNS
from xmlc.suite.results.titles import CONVENTIONS, method_title, model_title

MODEL_KEYS = ("dataset", "model")
PRECISION, PROPENSITY_SCORED = ("p@1", "p@3", "p@5"), ("psp@1", "psp@3", "psp@5")
THREADS = ("train_threads", "predict_threads")
CPU = "CPU times of training are sums over all threads and processes, without reading and writing files."

table1 = TableDefinition(
    name="table1",
    needs=(RANKINGS,),
    keys=MODEL_KEYS,
    more=(
        *(name for name in RANKING_METRICS if name not in PRECISION),
        *(*FURTHER_RANKING_METRICS, "predict_ms", "inner_products", "model_mb", "train_peak_mb", "predict_peak_mb"),
        *THREADS,
    ),
    panels=(
        datasets(*DATASET_COLUMNS),
        columns("Ranking on the test set, and training time", *PRECISION, "train_minutes"),
    ),
    threads=("train_threads",),
    notes=(hashed,),
    caption="The datasets, precision@k on the test set, and training time on the whole training set.",
)

PASSES = (*PRECISION, *PROPENSITY_SCORED, "train_cpu_seconds", "predict_ms", "model_mb", "train_peak_mb")


def threads_of_both(table: Table) -> list[str]:
    """Return a note on the numbers of threads that training and prediction used."""
    counts = threads_of(table.rows, THREADS)
    said = f"Training and prediction used {counts}. Times are wall-clock times unless the heading has CPU."
    return [said] * bool(counts)


passes = TableDefinition(
    name="passes",
    needs=(RANKINGS,),
    keys=MODEL_KEYS,
    more=THREADS,
    panels=(columns("", *PASSES),),
    notes=(CPU, threads_of_both),
    caption="Every method with 1 and with 3 passes over the training set.",
)


COSTS = ("train_seconds", "predict_ms", "model_mb", "train_peak_mb", "predict_peak_mb")
NOT_RUN = "not run, needs the extra `baselines`"


def _with_macro_f(table: Table) -> Rows:
    """Return a row for each ranking, with the macro-F of thresholds that were tuned for the same model.

    Baselines without a ranking also have a row.
    """
    rows = average(table.numbers(0), MODEL_KEYS)
    tuned = average(table.numbers(1), (*MODEL_KEYS, "method")) if table.given[1] else {}
    known = table.suite.baselines if table.suite else {}
    found: Rows = {}
    for dataset in dict.fromkeys(dataset for dataset, _ in rows):
        models = [model for own, model in rows if own == dataset and model not in known]
        for model in (*models, *known):
            row = rows.get((dataset, model))
            if row is None:
                note = known[model].without.get(dataset, NOT_RUN)
                row = make_row((dataset, model), {"note": note, "seeds": 0})
            of_methods = {name: tuned.get((dataset, model, name), {}).get("macro_f") for name in BASELINE_METHODS}
            found[dataset, model] = row | {name: mean for name, mean in of_methods.items() if mean}
    return found


def _about(table: Table) -> list[str]:
    """Return notes on baselines that are missing, have no tuned thresholds, or have untuned hyperparameters."""
    there = {model for _, model in table.rows}
    shown = {name: model for name, model in table.suite.baselines.items() if name in there} if table.suite else {}
    missing = {key: row["note"].value for key, row in table.rows.items() if "note" in row}
    lines = [f"{model_title(model)} is missing on {dataset}: {note}." for (dataset, model), note in missing.items()]
    skipped = [(name, model.skip_thresholds) for name, model in shown.items() if model.skip_thresholds]
    lines += [f"{model_title(name)} has no macro-F: {reason}." for name, reason in skipped]
    untuned = [f"{model_title(name)} ({model.untuned})" for name, model in shown.items() if model.untuned]
    return lines + ["Not tuned: " + "; ".join(untuned) + "."] * bool(untuned)


baselines = TableDefinition(
    name="baselines",
    needs=(
        Where("ranking", "full", baselines=True),
        Where("thresholds", "80", methods=BASELINE_METHODS, baselines=True),
    ),
    keys=MODEL_KEYS,
    rows=_with_macro_f,
    more=("note",),
    panels=(
        columns(
            "Quality and cost",
            *(*PRECISION, *BASELINE_METHODS, *COSTS, *THREADS),
            optional=BASELINE_METHODS,
            headings={name: f"Macro-F, {method_title(name)} (%)" for name in BASELINE_METHODS},
            contests={name: name for name in (*PRECISION, *COSTS)} | dict.fromkeys(BASELINE_METHODS, "macro_f"),
        ),
        columns("Propensity-scored precision", *PROPENSITY_SCORED, having="p@1"),
    ),
    notes=(
        "Rankings: models are trained on the whole training set, and predict the five best labels of each instance.",
        "Times include the conversion of data from Python to the format of a program.",
        "MB are 10^6 bytes. A model's size is the size of its files. Peak memory includes the whole process.",
        *CONVENTIONS,
        _about,
    ),
    takes_suite=True,
    caption="Quality and cost of xmlc's models and of baselines on the same data and machine.",
)
