"""Runs with several seeds: their file, how they are measured, and the intervals taken from them."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from page_cases import PAPER, make_table, small_run
from record_files import as_record
from report_cases import every_method, ranking, write
from repository import ROOT

from xmlc.cli import main
from xmlc.core.errors import XmlcError
from xmlc.suite.papers import table_of
from xmlc.suite.papers.building import build_table
from xmlc.suite.report.runs import CellRuns, Place, Runs, Spread, half_width, runs_of, split_error
from xmlc.suite.results.columns import COLUMNS
from xmlc.suite.results.made_of import finished_tables

HEAD = "paper,table,row,column,seeds,values,split_error\n"
PLACE = Place("plt2016", "table2", ("yeast", "plt", "fta"), "macro_f")


def test_what_is_written_is_read(tmp_path):
    other = Place("ldsm2020", "table7", ("bibtex", "ldsm"), "p@1")
    cells = {
        PLACE: CellRuns({0: 40.0, 1: 41.5}),
        other: CellRuns({0: 63.34, 3: 63.14, 5: 62.58}, 0.96),
    }
    Runs(cells).write(tmp_path / "runs.csv")
    text = (tmp_path / "runs.csv").read_text()
    assert text == HEAD + (
        "ldsm2020,table7,bibtex / ldsm,p@1,0 3 5,63.34 63.14 62.58,0.96\n"
        "plt2016,table2,yeast / plt / fta,macro_f,0 1,40 41.5,\n"
    )
    read = Runs.read(tmp_path / "runs.csv")
    assert read.cells == cells
    assert read.spread(PLACE).runs == 2
    assert read.spread(other).split_error == 0.96
    assert read.spread(Place("plt2016", "table2", ("yeast", "plt", "sto"), "macro_f")) is None


def test_a_dataset_of_a_table_is_replaced_as_a_whole():
    def runs(table, value, *rows):
        places = [Place("plt2016", table, (*row.split(),), "x") for row in rows]
        return Runs({place: CellRuns({0: value, 1: value}) for place in places})

    both = runs("table1", 2.0, "a plt").over(runs("table1", 1.0, "a plt", "a gone", "b plt"))
    assert {place.row: cell.values[0] for place, cell in both.cells.items()} == {("a", "plt"): 2.0, ("b", "plt"): 1.0}
    # Table 4 names the model first.
    both = runs("table4", 2.0, "plt a").over(runs("table4", 1.0, "plt a", "gone a", "plt b"))
    assert {place.row: cell.values[0] for place, cell in both.cells.items()} == {("plt", "a"): 2.0, ("plt", "b"): 1.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("paper,table\n", "columns paper, table; expected paper, table, row"),
        (HEAD + "p,t,a / b,x,0,1,\n", r"runs.csv:2: 1 runs; expected values of at least two seeds"),
        (HEAD + "p,t,a / b,x,0 1,1 2,\np,t,a / b,x,0 1,1 2,\n", r"runs.csv:3: a second line for p / t / a / b / x"),
        (HEAD + "p,t,a / b,x,0 1,1,\n", "seeds '0 1', values '1'"),
        (HEAD + "p,t,a / b,x,0 1,1 y,\n", "could not convert"),
    ],
)
def test_a_broken_file_is_refused(tmp_path, text, message):
    (tmp_path / "runs.csv").write_text(text)
    with pytest.raises(XmlcError, match=message):
        Runs.read(tmp_path / "runs.csv")


def test_the_projects_file_is_about_cells_that_exist():
    cells = Runs.read(ROOT / "config/runs.csv").cells
    assert len(cells) > 130
    for place in cells:
        assert len(place.row) == len(table_of(place.table, place.paper).keys)
        assert not COLUMNS[place.column].cost


def test_the_run_of_seed_0_is_what_was_accepted():
    cells = Runs.read(ROOT / "config/runs.csv").cells
    compared = 0
    for file in sorted((ROOT / "results/reference").glob("*/*.csv")):
        paper, table = file.parent.name, file.stem
        here = {place: cell for place, cell in cells.items() if (place.paper, place.table) == (paper, table)}
        if not here:
            continue
        frame = pd.read_csv(file, dtype={key: str for key in table_of(table, paper).keys})
        rows = frame.set_index(list(table_of(table, paper).keys))
        for place, cell in here.items():
            if place.row in rows.index or (len(place.row) == 1 and place.row[0] in rows.index):
                accepted = rows.loc[place.row if len(place.row) > 1 else place.row[0], place.column]
                assert cell.values[0] == pytest.approx(accepted, rel=1e-5), place
                compared += 1
    assert compared > 60


RUNS = 5


def covered(deviation, unit, ours, theirs, split_error=None, shift=0.0, trials=4000, seed=0):
    """Share of simulated reproductions that are within their interval of what a paper would have printed."""
    rng = np.random.default_rng(seed)
    inside = 0
    for _ in range(trials):
        level = rng.uniform(10, 90)
        test_sets = level + (split_error or 0) * rng.standard_normal(2)
        runs = test_sets[0] + deviation * rng.standard_normal(RUNS)
        value = runs[0] if ours == 1 else runs.mean()
        printed = test_sets[1] + shift + deviation * rng.standard_normal(theirs).mean()
        printed = round(printed / unit) * unit
        h = half_width(Spread.of(list(runs), split_error), unit, ours, theirs, split_error is not None).value
        inside += abs(value - printed) <= h
    return inside / trials


@pytest.mark.parametrize("split_error", [None, 0.8])
@pytest.mark.parametrize("theirs", [1, 5])
@pytest.mark.parametrize("deviation", [0.02, 0.3, 2.0])
def test_of_100_faithful_reproductions_95_are_within(deviation, theirs, split_error):
    share = covered(deviation, 0.01, RUNS, theirs, split_error)
    assert 0.93 < share < 0.97


def test_of_faithful_reproductions_whose_chance_is_below_rounding_at_least_95_are_within():
    assert covered(0.006, 0.05, RUNS, 1) > 0.95
    assert covered(0.0, 0.05, RUNS, 1) == 1


@pytest.mark.parametrize("unit", [0.01, 0.1, 1.0])
def test_runs_that_vary_less_than_rounding_are_fixed(unit):
    least = unit / math.sqrt(12 * 2)  # the variance of two single runs is then that of rounding
    below, above = (half_width(Spread(5, share * least), unit) for share in (0.99, 1.01))
    assert (below.fixed, above.fixed) == (True, False)
    assert below.value < above.value < 1.05 * below.value
    assert half_width(Spread(5, 1e-9 * least), unit).value == pytest.approx(1.96 * unit / math.sqrt(12), rel=1e-3)


def test_the_formula_by_hand():
    # t with 4 degrees of freedom is 2.776; rounding is nothing beside the deviation.
    assert half_width(Spread(5, 1.0), 1e-9).value == pytest.approx(2.776 * math.sqrt(2), abs=1e-2)
    assert half_width(Spread(5, 1.0), 1e-9, 5, 5).value == pytest.approx(2.776 * math.sqrt(0.4), abs=1e-2)
    # No deviation: rounding alone, or 1.96 standard errors of two test sets.
    of_rounding = (pytest.approx(1.96 * 0.1 / math.sqrt(12), rel=1e-3), True)
    assert half_width(Spread(5, 0.0), 0.1) == of_rounding
    assert half_width(Spread(5, 0.0, 1.0), 1e-9, other_split=True).value == pytest.approx(1.96 * math.sqrt(2), abs=1e-3)
    # A known split needs no standard error, and has none.
    assert half_width(Spread(5, 0.0, 1.0), 0.1) == of_rounding
    with pytest.raises(ValueError, match="error of another split"):
        half_width(Spread(5, 0.0), 0.1, other_split=True)


def test_a_spread_is_numpys():
    values = [63.34, 63.14, 63.38, 63.18, 62.58]
    assert Spread.of(values).deviation == pytest.approx(np.std(values, ddof=1))
    assert Spread.of(values).runs == 5


@pytest.fixture
def run(tmp_path):
    return small_run(tmp_path)


def measured(run):
    known = {}
    return runs_of([build_table(made, known) for made in finished_tables(run / "results/tables", [PAPER])], known)


def test_each_printed_cell_has_the_value_of_each_seed(run):
    records = [*every_method(f=0.40), *(record | {"seed": 3} for record in every_method(f=0.42))]
    make_table(run, "table2", write(run / "results/yeast/other", records))
    cells = measured(run).cells
    # sto is 5 points below fta; inner products are printed for fta alone; ofo and other methods are not printed.
    assert {(place.row[2], place.column): dict(cell.values) for place, cell in cells.items()} == {
        ("fta", "macro_f"): pytest.approx({0: 40.0, 3: 42.0}),
        ("fta", "inner_products"): pytest.approx({0: 55.0, 3: 55.0}),
        ("sto", "macro_f"): pytest.approx({0: 35.0, 3: 37.0}),
    }
    assert {(place.paper, place.table, place.row[:2]) for place in cells} == {(PAPER, "table2", ("yeast", "plt"))}


def test_rankings_tell_the_error_of_their_test_set(run):
    (run / f"results/published/{PAPER}/table1.csv").write_text("dataset,model,p@1,p@3\nyeast,plt,75.00,25.00\n")
    records = [
        ranking(seed=seed, p1=0.75 + 0.01 * seed, standard_errors={"p@1": 0.01 + 0.002 * seed}) for seed in (0, 1)
    ]
    make_table(run, "table1", write(run / "results/yeast/rankings", records))
    cells = measured(run).cells
    found = cells[Place(PAPER, "table1", ("yeast", "plt"), "p@1")]
    assert found.values == pytest.approx({0: 75.0, 1: 76.0})
    # In percent, the mean over seeds; 1500 of 2417 instances are for training.
    assert found.split_error == pytest.approx(1.1 * math.sqrt(1500 / 2417))
    assert cells[Place(PAPER, "table1", ("yeast", "plt"), "p@3")].split_error is None


def test_without_printed_cells_of_several_seeds_there_is_nothing_to_keep():
    with pytest.raises(XmlcError, match="no printed cell was run with several seeds"):
        runs_of([], {})


def test_the_split_error_is_that_of_random_splits():
    rng = np.random.default_rng(0)
    scores = rng.random(500) < 0.6
    test_sets = [rng.permutation(scores)[:200] for _ in range(4000)]
    record = as_record(ranking(standard_errors={"p@1": scores[:200].std(ddof=1) / math.sqrt(200)}))
    record = replace(record, dataset=replace(record.dataset, n_train=300, n_test=200))
    found = split_error([record], "p@1")
    assert found == pytest.approx(100 * np.std([scores.mean() for scores in test_sets]), rel=0.05)


def test_the_command_keeps_what_the_file_has_of_other_datasets(run, monkeypatch, capsys):
    monkeypatch.chdir(run)
    file = run / "runs.csv"
    file.write_text(
        "paper,table,row,column,seeds,values,split_error\n"
        f"{PAPER},table2,scene / plt / fta,macro_f,0 1,1 2,\n{PAPER},table2,yeast / gone / fta,macro_f,0 1,1 2,\n"
    )
    for _ in range(2):  # a second time changes nothing
        with pytest.raises(SystemExit) as stop:
            main(["deviations", "results/tables", "--out", str(file)])
        assert stop.value.code == 0
        rows = {place.row for place in Runs.read(file).cells}
        assert rows == {("scene", "plt", "fta"), ("yeast", "plt", "fta"), ("yeast", "plt", "sto")}
    assert f"{PAPER}/table2: 3 cells" in capsys.readouterr().out
