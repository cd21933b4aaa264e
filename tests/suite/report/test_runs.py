"""Test runs with several seeds: their file, their measurement and their intervals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from command_line import run as command
from facts import absent, raises_with
from page_cases import PAPER, make_table, small_run
from record_files import as_record
from report_cases import every_method, ranking
from report_cases import write as write_records
from repository import ROOT

from xmlc.core.errors import XmlcError
from xmlc.suite.papers import table_of
from xmlc.suite.report.runs import runs_of, split_error, write_runs
from xmlc.suite.report.verdicts import Spread, half_width, read_runs, read_spreads
from xmlc.suite.results.columns import COLUMNS
from xmlc.suite.results.manifest import Manifest, finished_tables
from xmlc.suite.results.numbers import read_cells

HEAD = "paper,table,row,column,seeds,values,split_error\n"


def write(file, *lines):
    """Write runs, with or without a split error: ``table2 / yeast / plt / fta / macro_f / 40
    41.5``.
    """
    file.write_text(HEAD + "".join(f"{line}\n" for line in lines))
    return file


def test_spreads_are_computed_from_runs_in_a_file(tmp_path):
    lines = (
        "ldsm2020,table7,bibtex / ldsm,p@1,0 3 5,63.34 63.14 62.58,0.96",
        "plt2016,t,a / b,x,0 1,40 41.5,",
    )
    deviation = pytest.approx(np.std([63.34, 63.14, 62.58], ddof=1))
    assert read_spreads(write(tmp_path / "runs.csv", *lines)) == {
        ("ldsm2020", "table7", ("bibtex", "ldsm"), "p@1"): (3, deviation, 0.96),
        ("plt2016", "t", ("a", "b"), "x"): (2, pytest.approx(1.5 / math.sqrt(2)), None),
    }
    assert read_spreads(tmp_path / "none.csv") == {}


def test_all_runs_of_a_dataset_in_a_table_are_replaced(tmp_path):
    # In Table 4, the model comes first.
    earlier = [f"plt2016,table4,{row},x,0 1,1 1," for row in ("plt / a", "gone / a", "plt / b")]
    file = write(tmp_path / "runs.csv", *earlier)
    new = "plt2016,table4,plt / a,x,0 1,2 2,"
    write_runs(read_runs(write(tmp_path / "new.csv", new)), file)
    assert sorted(file.read_text().splitlines()[1:]) == [new, earlier[2]]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("paper,table\n", ["table", "split_error"]),
        (HEAD + "p,t,a / b,x,0,1,\n", ["runs.csv:2"]),
        (HEAD + "p,t,a / b,x,0 1,1 2,\np,t,a / b,x,0 1,1 2,\n", ["runs.csv:3", "'a / b'"]),
        (HEAD + "p,t,a / b,x,0 1,1,\n", ["runs.csv:2", "'0 1'", "'1'"]),
        (HEAD + "p,t,a / b,x,0 1,1 y,\n", ["runs.csv:2", "'1 y'"]),
    ],
)
def test_invalid_file_of_runs_is_refused(tmp_path, text, facts):
    (tmp_path / "runs.csv").write_text(text)
    with raises_with(XmlcError, facts):
        read_spreads(tmp_path / "runs.csv")


def test_shipped_runs_have_existing_cells_and_reference_seed_0():
    compared = 0
    for (paper, table), runs in read_runs(ROOT / "config/runs.csv").groupby(["paper", "table"]):
        keys = table_of(table, paper).keys
        file = ROOT / f"results/reference/{paper}/{table}.csv"
        numbers = {}
        if file.is_file():
            numbers = read_cells(file, keys).set_index([*keys, "quantity"])["value"].to_dict()
        for run in runs.itertuples():
            place = (*run.row.split(" / "), run.column)
            assert len(place) == len(keys) + 1
            assert not COLUMNS[run.column].cost
            if place in numbers:
                first = float(run.values.split()[0])
                assert first == pytest.approx(float(numbers[place]), rel=1e-5), place
                compared += 1
    assert compared > 60


@pytest.mark.parametrize("unit", [0.01, 1.0])
def test_runs_that_vary_less_than_rounding_are_deterministic(unit):
    # the variance of two single runs is then the variance of rounding
    least = unit / math.sqrt(12 * 2)
    below, is_fixed_below = half_width(Spread(5, 0.99 * least), unit)
    above, is_fixed_above = half_width(Spread(5, 1.01 * least), unit)
    assert (is_fixed_below, is_fixed_above) == (True, False)
    assert below < above < 1.05 * below


def test_interval_equals_formula_computed_by_hand():
    # The quantile of t with 4 degrees of freedom is 2.776. Rounding is negligible here.
    of_runs = half_width(Spread(5, 1.0), 1e-9)[0]
    assert of_runs == pytest.approx(2.776 * math.sqrt(2), abs=1e-2)
    of_means = half_width(Spread(5, 1.0), 1e-9, 5, 5)[0]
    assert of_means == pytest.approx(2.776 * math.sqrt(0.4), abs=1e-2)
    of_splits = half_width(Spread(5, 0.0, 1.0), 1e-9, other_split=True)[0]
    assert of_splits == pytest.approx(1.96 * math.sqrt(2), abs=1e-3)
    # A known split needs no standard error, and without variation only rounding is left.
    of_rounding = pytest.approx(1.96 * 0.1 / math.sqrt(12), rel=1e-3)
    assert half_width(Spread(5, 0.0, 1.0), 0.1) == (of_rounding, True)


@pytest.fixture
def run(tmp_path):
    return small_run(tmp_path)


def measured(run):
    return runs_of(finished_tables(run / "results/tables"))


def test_each_published_cell_gets_a_value_per_seed(run):
    records = [*every_method(f=0.40), *every_method(f=0.42, seed=3)]
    make_table(run, "table2", write_records(run / "results/yeast/other", records))
    found = measured(run)
    # sto is 5 points below fta. The paper has inner products only for fta, and no ofo.
    assert found.to_numpy().tolist() == [
        [PAPER, "table2", "yeast / plt / fta", "macro_f", "0 3", "40 42", ""],
        [PAPER, "table2", "yeast / plt / fta", "inner_products", "0 3", "55 55", ""],
        [PAPER, "table2", "yeast / plt / sto", "macro_f", "0 3", "35 37", ""],
    ]


def test_rankings_give_the_error_of_their_test_set(run):
    (run / f"results/published/{PAPER}/table1.csv").write_text(
        "dataset,model,p@1,p@3\nyeast,plt,75.00,25.00\n"
    )
    records = [
        ranking(seed=seed, p1=0.75 + 0.01 * seed, standard_errors={"p@1": 0.01 + 0.002 * seed})
        for seed in (0, 1)
    ]
    make_table(run, "table1", write_records(run / "results/yeast/rankings", records))
    found = measured(run).set_index("column")
    assert found.loc["p@1", "values"] == "75 76"
    # Mean over seeds in percent. 1500 of 2417 instances are for training.
    assert found.loc["p@1", "split_error"] == f"{1.1 * math.sqrt(1500 / 2417):.3g}"
    assert found.loc["p@3", "split_error"] == ""


def test_runs_without_published_cells_or_several_seeds_are_refused():
    with raises_with(XmlcError, "seeds"):
        runs_of([])


def test_split_error_matches_random_splits():
    rng = np.random.default_rng(0)
    scores = rng.random(500) < 0.6
    test_sets = [rng.permutation(scores)[:200] for _ in range(4000)]
    record = as_record(ranking(standard_errors={"p@1": scores[:200].std(ddof=1) / math.sqrt(200)}))
    record = replace(record, dataset=replace(record.dataset, n_train=300, n_test=200))
    found = split_error([record], "p@1")
    assert float(found) == pytest.approx(
        100 * np.std([scores.mean() for scores in test_sets]), rel=0.05
    )


def test_command_keeps_runs_of_other_datasets_in_the_file(run):
    file = write(run / "runs.csv", f"{PAPER},table2,scene / plt / fta,macro_f,0 1,1 2,")
    assert command("seed-variation", run / "results/tables", "--out", file) == 0
    rows = ["scene / plt / fta", "yeast / plt / fta", "yeast / plt / sto"]
    assert [*read_runs(file)["row"].unique()] == rows


def test_command_skips_tables_that_are_out_of_date(run, capsys):
    (run / f"results/published/{PAPER}/table1.csv").write_text("dataset,model,p@1\nyeast,plt,75\n")
    records = write_records(run / "results/old", [ranking(), ranking(seed=1)])
    make_table(run, "table1", records)
    replace(
        Manifest.read(run / f"results/tables/{PAPER}/table2.manifest.json"), table="gone"
    ).write(run / f"results/tables/{PAPER}/gone")
    file = run / "runs.csv"
    arguments = ("seed-variation", run / "results/tables", "--out", file)
    assert command(*arguments) == 0
    assert {*read_runs(file)["table"]} == {"table1", "table2"}
    file.unlink()
    records[0].unlink()
    capsys.readouterr()
    assert command(*arguments) == 0
    assert {*read_runs(file)["table"]} == {"table2"}
    skipped = capsys.readouterr().err
    assert absent(skipped, f"{PAPER}/table1: ", "missing", f"{PAPER}/gone: ", "Delete") == []
