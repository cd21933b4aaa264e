"""Every table as transcribed: its keys, its columns, its source, some of its cells, and the sizes of its datasets."""

import pandas as pd
import pytest
from repository import ROOT

from xmlc.data.catalogue import load_catalogue
from xmlc.papers import table_of
from xmlc.papers.plt2016.tables import searched_models
from xmlc.suites.suite import read_suite
from xmlc.tables.columns import COLUMNS

FOLDER = ROOT / "results/published"
FILES = sorted(file for file in FOLDER.glob("*/*.csv") if file.parent.name != "tuning")
CELLS = {
    ("gfm2011/table1", "scene,pcc,h"): "10.30 66.73 66.75 57.79 0.969",
    ("gfm2011/table1", "mediamill,br,h"): "3.04 14.29 56.23 54.62 207.655",
    ("ldsm2020/table4", "delicious-200k"): "46 2",
    ("ldsm2020/table7", "bibtex,ldsm"): "64.69 39.70 29.25 64.69 60.37 62.73",
    ("ldsm2020/table7", "amazon-670k,leml"): "8.13 6.83 6.03 8.13 7.30 6.85",
    ("oplt2021/table2", "wikilshtc-325k,oplt-b"): "54.69 35.32 26.31 300.0",
    ("oplt2021/table3", "wikipara-5,cmt"): "4.21 240.9",
    ("plt2016/table1", "rcv1-2k,plt-hashed"): "2456 47236 155962 623847 1218.56 4.79 90.46 72.40 51.86 64",
    ("plt2016/table2", "delicious-200k,plt-hashed,sto"): "10.96 17.41 29067",
    ("plt2016/table4", "fastxml,amazon-670k"): "10000 100000 53.91 52.86 52.86 47.53",
    ("swnn2018/table2", "delicious-200k"): "1 3 6 17 64548 74",
    ("swnn2018/table6", "amazon-670k,swnn-searched"): "41.43 36.79 33.70 100.0 93.40 87.65 75 2.0 1 5.74",
}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_table_has_unique_keys_in_front_and_a_source(file):
    frame = pd.read_csv(file, dtype=str)
    keys = table_of(file.stem, file.parent.name).keys
    assert tuple(frame.columns[: len(keys)]) == keys
    assert not frame.duplicated(list(keys)).any()
    assert set(frame.columns) <= set(COLUMNS)
    assert not frame.isna().any().any()
    assert file.name in (file.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("table", "key"), CELLS)
def test_cells(table, key):
    lines = [line.split(",") for line in (FOLDER / f"{table}.csv").read_text().splitlines()]
    (cells,) = (line for line in lines if ",".join(line[: key.count(",") + 1]) == key)
    numbers = [float(cell) for cell in cells[key.count(",") + 1 :]]
    wanted = list(map(float, CELLS[table, key].split()))
    assert [number for number in numbers if number in wanted] == wanted


@pytest.mark.parametrize("table", ["ldsm2020/table3", "oplt2021/table1"])
def test_sizes_are_the_catalogues(table):
    sizes = pd.read_csv(FOLDER / f"{table}.csv", na_values="-").set_index("dataset")
    catalogue = load_catalogue(ROOT / "config/datasets.yaml")
    for name, row in sizes.iterrows():
        assert {key: row[key] for key in ("d", "m", "n_train", "n_test")}.items() <= catalogue[name].published.items()


def test_the_ranges_of_the_configuration_are_those_of_table_3():
    table = pd.read_csv(FOLDER / "plt2016/table3.csv").set_index("hyperparameter")
    ranges = searched_models(read_suite(ROOT / "config/papers/plt2016.yaml"))["plt"].ranges
    assert {name: (values.low, values.high) for name, values in ranges.items()} == {
        name: (row["low"], row["high"]) for name, row in table.iterrows()
    }
