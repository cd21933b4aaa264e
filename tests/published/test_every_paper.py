"""Every table as transcribed: its keys, its columns, its source, and the sizes of its datasets."""

import pandas as pd
import pytest
from repository import ROOT

from xmlc.data.catalogue import load_catalogue
from xmlc.numbers.columns import COLUMNS
from xmlc.papers import table_of
from xmlc.papers.common.hyperparameters import ranges_of
from xmlc.suites.suite import read_suite

FOLDER = ROOT / "results/published"
FILES = sorted(file for file in FOLDER.glob("*/*.csv") if file.parent.name != "tuning")


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_table_has_unique_keys_in_front_and_a_source(file):
    frame = pd.read_csv(file, dtype=str)
    keys = table_of(file.stem, file.parent.name).keys
    assert tuple(frame.columns[: len(keys)]) == keys
    assert not frame.duplicated(list(keys)).any()
    assert set(frame.columns) <= set(COLUMNS)
    assert not frame.isna().any().any()
    assert file.name in (file.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", ["ldsm2020/table3", "oplt2021/table1", "plt2016/table1"])
def test_sizes_are_the_catalogues(table):
    sizes = pd.read_csv(FOLDER / f"{table}.csv", na_values="-").set_index("dataset")
    keys = ["d", "m", "n_train", "n_test"]
    keys += ["instances_per_label", "labels_per_instance"] if table == "plt2016/table1" else []
    catalogue = load_catalogue(ROOT / "config/datasets.yaml")
    for name, row in sizes.iterrows():
        assert {key: row[key] for key in keys}.items() <= catalogue[name].published.items()


def test_the_ranges_of_the_configuration_are_those_of_table_3():
    table = pd.read_csv(FOLDER / "plt2016/table3.csv").set_index("hyperparameter")
    ranges = ranges_of(read_suite(ROOT / "config/papers/plt2016.yaml").models["plt"])
    assert {name: (values.low, values.high) for name, values in ranges.items()} == {
        name: (row["low"], row["high"]) for name, row in table.iterrows()
    }
