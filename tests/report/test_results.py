"""The long table of a run: every number of a table is in it, and what failed is in it with its reason."""

import pandas as pd
import pytest
from page_cases import PAPER, make_table, small_run, step
from record_cases import search, statistics
from report_cases import (
    dataset,
    every_measure,
    every_method,
    forest,
    inference,
    inferred_from_estimates,
    ranking,
    write,
)

from xmlc.numbers.columns import DEVIATION
from xmlc.numbers.made_of import finished_tables
from xmlc.report.failures import failures
from xmlc.report.results import FAILED, LEFT_OUT, LONG_COLUMNS, MEASURED, long_table

# Columns that a table names otherwise than the record, and those that it computes from several numbers.
RENAMED = (
    {"accuracy": ("p@1", None)}
    | {name: ("macro_f", name) for name in ("fta", "sto", "ofo")}
    | {"test_macro_f": ("macro_f", "ofo-ab")}
)
COUNTED = {"seeds", "passes"}


def of_each_kind():
    """Tables of each kind of records, two seeds wherever a record has one: (paper, table, records)."""
    rankings = [ranking(model=model, seed=seed, p1=0.5 + seed / 10) for model in ("plt", "fastxml") for seed in (0, 1)]
    searched = ranking(model="swnn-searched", tuning={"p@1": 0.7, "budget": 9, "method": "stages"})
    searched["hyperparameters"] = {"S": 25, "alpha": 0.5, "beta": 0}
    passes = [ranking(model=f"oplt-b-{n}", p1=p1) for n, p1 in (("1-pass", 0.5), ("3-passes", 0.6))]
    few_shot = passes[0]["dataset"] | {"labels_per_instance": 1}
    return [
        (PAPER, "table1", rankings),
        (PAPER, "table2", every_method() + every_method(seed=1, f=0.5)),
        (PAPER, "table4", every_method() + every_method(seed=1, f=0.5)),
        (PAPER, "peers", rankings + every_method() + every_method(model="fastxml", f=0.3)),
        (PAPER, "measures", every_measure() + every_measure(seed=1, shift=0.1)),
        (PAPER, "instance-f", [inferred_from_estimates(seed=seed, f=0.6 + seed / 10) for seed in (0, 1)]),
        ("gfm2011", "table1", [inference(seed=seed, f=0.6 + seed / 10) for seed in (0, 1)]),
        ("swnn2018", "table6", [searched]),
        ("swnn2018", "table1", [statistics()]),
        ("swnn2018", "table5", [statistics()]),
        ("oplt2021", "table2", passes),
        ("oplt2021", "table3", [record | {"dataset": few_shot} for record in passes]),
        ("ldsm2020", "table4", [forest(), forest(seed=1)]),
        ("ldsm2020", "table7", rankings),
    ]


@pytest.mark.parametrize(
    ("paper", "name", "records"), of_each_kind(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_number_of_a_table_is_a_mean_of_the_long_one(tmp_path, paper, name, records):
    table = make_table(tmp_path, name, write(tmp_path / "records", records), paper)
    long = long_table(finished_tables(tmp_path / "results/tables", [paper]))
    looked_at = 0
    for row in table.frame.to_dict("records"):
        for column, value in row.items():
            if column in {*table.keys, *COUNTED} or column.endswith(DEVIATION):
                continue
            if isinstance(value, str) or pd.isna(value):
                continue
            looked_at += 1
            assert float(value) in candidates(long, row, column), (column, row)
    assert looked_at >= 3


def candidates(long, row, column):
    """Means over seeds of all that a cell may be, a variant and a method at a time; 9 digits tell them apart."""
    metric, method = RENAMED.get(column, (column, row.get("method")))
    found = long[(long["dataset"] == row["dataset"]) & (long["quantity"] == metric)]
    if "model" in row:
        found = found[[name in (row["model"], best_of(row)) for name in found["model"]]]
    if method is not None:
        found = found[found["method"] == method]
    means = found.groupby(["variant", "method"], dropna=False)["value"].mean()
    return [pytest.approx(mean, rel=1e-12) for mean in means]


def best_of(row):
    """Name of the model that stands for a method in a row that tells its number of passes."""
    return f"{row['model']}-{row['passes']}-pass{'es' * (row['passes'] > 1)}" if "passes" in row else None


def test_a_table_of_several_kinds_of_files_has_the_facts_of_records_and_statistics(tmp_path):
    files = write(tmp_path / "records", [ranking(model="swnn-searched"), statistics(), search()])
    make_table(tmp_path, "claims", files, "swnn2018")
    table = long_table(finished_tables(tmp_path / "results/tables", ["swnn2018"]))
    assert {("swnn-searched", "p@1"), ("", "labels_per_instance")} <= {*zip(table["model"], table["quantity"])}


def test_steps_are_facts_of_what_they_cost(tmp_path):
    trained = {"step": step("train"), "dataset": dataset(), "hyperparameters": {"arity": 16}, "seed": 1}
    prepared = {"step": step("prepare", model=None, portion=None)}
    make_table(tmp_path, "scale", write(tmp_path / "records", [prepared, trained]), "scale")
    table = long_table(finished_tables(tmp_path / "results/tables", ["scale"]))
    seconds = table[table["quantity"] == "step_seconds"]
    found = seconds[["dataset", "model", "portion", "value", "threads", "peak_mb"]].values.tolist()
    assert found == [["yeast", "", "", 5.25, 2, 123.0], ["yeast", "plt", "80", 5.25, 2, 123.0]]


def test_a_fact_says_whose_it_is_and_how_it_came_about(tmp_path):
    run = small_run(tmp_path)
    table = long_table(finished_tables(run / "results/tables", [PAPER]), failures(run / "logs"), run / "config")
    assert tuple(table.columns) == LONG_COLUMNS
    row = table[(table["model"] == "plt") & (table["method"] == "sto") & (table["quantity"] == "macro_f")].iloc[0]
    assert (row["papers"], row["dataset"], row["seed"], row["portion"]) == (PAPER, "yeast", 0, "80")
    assert row["value"] == pytest.approx(35)
    assert (row["unit"], row["status"]) == ("%", MEASURED)
    assert (row["threads"], row["seconds"], row["peak_mb"]) == (2, 5.25, 123)
    assert row["versions"] == "xmlc 0.1.0; python 3.11.7; numpy 2.4.6"
    assert row["hyperparameters"] == '{"arity": 16}'
    assert row["record"].endswith("001.json")


def test_what_failed_and_what_was_left_out_are_rows_with_their_reason(tmp_path):
    run = small_run(tmp_path)
    paths = write(run / "results/scene", [inference(), inference(method="meuf-cubic", finished=False)])
    make_table(run, "table1", paths, "gfm2011")
    table = long_table(finished_tables(run / "results/tables", [PAPER]), failures(run / "logs"), run / "config")
    failed = table[table["status"] == FAILED]
    assert set(failed["reason"]) == {"stopped after 60 s", "no <room> left"}
    assert failed["value"].isna().all()
    left_out = table[table["status"] == LEFT_OUT]
    assert left_out[["papers", "dataset", "model", "reason"]].values.tolist() == [
        [PAPER, "yeast", "ldsm", "it <is> slow"]
    ]
    stopped = table[(table["method"] == "meuf-cubic") & (table["status"] == MEASURED)]
    assert "instance_f" not in set(stopped["quantity"])
