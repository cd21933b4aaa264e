"""The file of runs: written, read, put over an earlier one, refused where it is broken."""

import pandas as pd
import pytest
from repository import ROOT

from xmlc.errors import XmlcError
from xmlc.judging.runs import CellRuns, Place, Runs
from xmlc.papers import table_of
from xmlc.tables.columns import COLUMNS

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


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(XmlcError, match="cannot be read"):
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
