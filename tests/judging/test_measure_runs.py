"""Finished tables taken apart by seed, and the command that keeps the runs."""

import math

import numpy as np
import pytest
from page_cases import PAPER, make_table, small_run
from report_cases import every_method, ranking, write

from xmlc.cli import main
from xmlc.errors import XmlcError
from xmlc.judging.measure_runs import runs_of, split_error
from xmlc.judging.runs import Place, Runs
from xmlc.tables.made_of import MadeOf, finished_tables


@pytest.fixture
def run(tmp_path):
    return small_run(tmp_path)


def test_each_printed_cell_has_the_value_of_each_seed(run):
    records = [*every_method(f=0.40), *(record | {"seed": 3} for record in every_method(f=0.42))]
    make_table(run, "table2", write(run / "results/yeast/other", records))
    cells = runs_of(finished_tables(run / "results/tables", [PAPER])).cells
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
    cells = runs_of(finished_tables(run / "results/tables", [PAPER])).cells
    found = cells[Place(PAPER, "table1", ("yeast", "plt"), "p@1")]
    assert found.values == pytest.approx({0: 75.0, 1: 76.0})
    # In percent, the mean over seeds; 1500 of 2417 instances are for training.
    assert found.split_error == pytest.approx(1.1 * math.sqrt(1500 / 2417))
    assert cells[Place(PAPER, "table1", ("yeast", "plt"), "p@3")].split_error is None


def test_a_table_that_no_paper_prints_may_be_made_of_other_files(run):
    (run / "search.yaml").write_text("method: stages")
    made = [MadeOf("claims", "swnn2018", (run / "search.yaml",), run / "results/published")]
    with pytest.raises(XmlcError, match="no printed cell was run with several seeds"):
        runs_of(made)


def test_the_split_error_is_that_of_random_splits():
    rng = np.random.default_rng(0)
    scores = rng.random(500) < 0.6
    test_sets = [rng.permutation(scores)[:200] for _ in range(4000)]
    found = [split_error(scores[:200].std(ddof=1) / math.sqrt(200), 300, 200)]
    assert found[0] == pytest.approx(np.std([scores.mean() for scores in test_sets]), rel=0.05)


def test_without_several_seeds_there_is_nothing_to_measure(run):
    make_table(run, "table2", write(run / "results/yeast/plt", every_method()))
    with pytest.raises(XmlcError, match="no printed cell was run with several seeds"):
        runs_of(finished_tables(run / "results/tables", [PAPER]))


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
