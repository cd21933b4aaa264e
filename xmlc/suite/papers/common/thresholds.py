"""Declare Tables 2 and 4 of plt2016 on tuned thresholds, and a table of measures for all threshold methods."""

from __future__ import annotations

from dataclasses import replace

from xmlc.metrics import measures as known
from xmlc.suite.config.planned import Where
from xmlc.suite.papers.declared import Table, TableDefinition, by_method, columns
from xmlc.suite.results.columns import column
from xmlc.suite.results.frame import Rows, average
from xmlc.suite.results.titles import CONVENTIONS, LIMITS, METHODS, measure_of, model_title

HASHED = "plt-hashed"  # The PLT of plt2016. The model "plt" is xmlc's variant of the PLT.
FOR_OTHERS = ("ofo-ab", *known.MEASURE_METHODS)  # Methods that only the tables `table4` and `measures` show.
OF_80, OF_FULL = (Where("thresholds", split, but_methods=FOR_OTHERS) for split in ("80", "full"))
METHOD_KEYS = ("dataset", "model", "method")


def grouped(rows: Rows, length: int) -> Rows:
    """Reorder rows so that all rows with the same first ``length`` parts of the key are consecutive."""
    places = list(dict.fromkeys(key[:length] for key in rows))
    return {key: rows[key] for key in sorted(rows, key=lambda key: places.index(key[:length]))}


def by_split(table: Table) -> Rows:
    """Return the means of all quantities over seeds.

    For each dataset and model, the rows for training on the whole training set come last.
    """
    return grouped(average(table.numbers(), METHOD_KEYS), 2)


def hashed(table: Table) -> list[str]:
    """Return a note on the PLT of plt2016, with its number of weight slots on each dataset.

    The note is left out if the table has no row for the PLT of plt2016.
    """
    bits = {r.dataset.name: r.hyperparameters["hash_bits"] for r in table.records if r.model == HASHED}
    slots = ", ".join(f"2^{bits[name]} ({name})" for name in bits)
    has_plt = any(record.model == "plt" for record in table.records)
    return [
        f"{model_title(HASHED)} is the paper's PLT, whose weights share one table of {slots} slots (in the paper 2^30, "
        "Section 6)." + " PLT is xmlc's variant, which has a weight for each pair of feature and node." * has_plt
    ] * bool(bits)


def overfitting(table: Table) -> list[str]:
    """Return a note on the runs in which STO overfits, as plt2016 observes.

    STO overfits if its macro-F is the highest on the validation set but not on the test set.
    """
    found: list[tuple[float, str]] = []
    for dataset, model in dict.fromkeys(key[:2] for key in table.rows):
        rows = [table.rows.get((dataset, model, method), {}) for method in ("sto", "fta", "ofo")]
        if model in LIMITS or not all(rows):
            continue
        sto, *others = (row["macro_f"].value for row in rows)
        tuned, fta, ofo = (row["validation_macro_f"].value for row in rows)
        loss = max(others) - sto if tuned > fta and tuned >= ofo else 0.0
        found.append((loss, f"{dataset} with {model_title(model)} ({sto:.2f} % instead of {max(others):.2f} %)"))
    losses = [one for one in found if one[0] > 0]
    said = "STO has the highest macro-F of FTA, STO and OFO on the validation set, but not on the test set, in "
    said += f"{len(losses)} of {len(found)} cases (a dataset and a model)."
    said += f" STO is farthest below FTA or OFO on the test set of {max(losses)[1]}." if losses else ""
    return [said] * bool(found)


table2 = TableDefinition(
    name="table2",
    needs=(OF_80, OF_FULL),
    keys=METHOD_KEYS,
    rows=by_split,
    columns=(
        *("macro_f", "test_ms", "inner_products"),
        *(name for name in known.SET_METRICS if name != "macro_f"),
        *(*known.FURTHER_SET_METRICS, "predicted_per_instance", "validation_macro_f"),
        *("c", "a", "b", "tune_seconds", "test_threads"),
    ),
    panels=(
        by_method("macro_f", "Macro-F on the test set (%)"),
        by_method("test_ms", "Time per test instance (ms)"),
        by_method("inner_products", "Inner products per test instance"),
    ),
    threads=("test_threads",),
    notes=(
        *CONVENTIONS,
        "A label without test instances counts 0 if it is predicted. The CSV file has more variants of macro-F.",
        "FTA: fixed thresholds approach, STO: search-based threshold optimization, OFO: online F-measure optimization.",
        overfitting,
        hashed,
    ),
    caption="Macro-F and costs of prediction on the test set, with thresholds tuned on the validation set.",
)


def _tuned_ofo(table: Table) -> Rows:
    """Return the rows of OFO with tuned a and b, with the macro-F of FTA and STO in each row."""
    rows = average(table.numbers(), METHOD_KEYS)
    found: Rows = {}
    for (dataset, model, method), row in rows.items():
        if method == "ofo-ab":
            beside = {name: rows.get((dataset, model, name), {}).get("macro_f") for name in ("fta", "sto")}
            others = {name: number for name, number in beside.items() if number}
            found[model, dataset] = row | {"test_macro_f": row["macro_f"]} | others
    return grouped(found, 1)


table4 = TableDefinition(
    name="table4",
    needs=tuple(Where("thresholds", "80", methods=names) for names in (("ofo-ab",), ("fta", "sto"))),
    keys=("model", "dataset"),
    rows=_tuned_ofo,
    more=(
        *("micro_f", "instance_f", "predicted_per_instance", "inner_products", "test_ms", "tune_seconds"),
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
    notes=(*CONVENTIONS, hashed),
    caption="Macro-F on the test set when both parameters of OFO, a and b, are tuned on the validation set.",
)


def _by_measure(table: Table) -> Rows:
    """Return the means of all quantities over seeds, with a row for each measure that thresholds were tuned for.

    Brackets mark the measure that a row was tuned for. The column of a measure is hidden if no row was tuned for this
    measure. Records of methods that xmlc does not have are left out.
    """
    numbers = (replace(n, method=known.MEASURE_METHODS.get(n.method, n.method)) for n in table.numbers())
    rows = grouped(average((n for n in numbers if n.method in (*known.TUNABLE_MEASURES, *METHODS)), METHOD_KEYS), 2)
    tuned = {measure_of(tuned_for) for _, _, tuned_for in rows}
    for (_, _, tuned_for), row in rows.items():
        for name in (name for name in known.TUNABLE_MEASURES if name in row):
            mark = "brackets" if name == measure_of(tuned_for) else "" if name in tuned else "hidden"
            row[name] = replace(row[name], mark=mark)
    return rows


measures = TableDefinition(
    name="measures",
    needs=(Where("thresholds", "80", methods=(*known.MEASURE_METHODS, *known.UNLABELLED_METHODS)), OF_FULL),
    keys=("dataset", "model", "tuned_for"),
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
        "Each label has a separate threshold for macro measures, and all labels share one for the other measures.",
        "F2 weights recall twice as much as precision.",
    ),
    caption="All measures on the test set (%). In each row, thresholds are tuned for the measure in brackets.",
)
