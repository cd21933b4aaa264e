"""plt2016's tables as transcribed: cells, and what the paper's text says about them."""

import pandas as pd
import pytest
from repository import ROOT

from xmlc.papers import table_of
from xmlc.papers.plt2016.hyperparameters import searched_models
from xmlc.suites.reading import read_suite

FOLDER = ROOT / "results/published"
DATASETS = ["rcv1-2k", "amazoncat-13k", "wiki10-31k", "delicious-200k", "wikilshtc-325k", "amazon-670k"]


def read(table):
    keys = list(table_of(table, "plt2016").keys)
    return pd.read_csv(FOLDER / "plt2016" / f"{table}.csv").set_index(keys)


@pytest.mark.parametrize(("table", "rows", "columns"), [("table1", 12, 10), ("table2", 36, 3), ("table4", 12, 6)])
def test_shape(table, rows, columns):
    frame = read(table)
    assert frame.shape == (rows, columns)
    assert set(frame.index.get_level_values("dataset")) == set(DATASETS)
    assert set(frame.index.get_level_values("model")) == {"plt-hashed", "fastxml"}


def test_cells_of_table_1():
    table = read("table1")
    assert table.loc[("rcv1-2k", "plt-hashed")].tolist() == [
        2456, 47236, 155962, 623847, 1218.56, 4.79, 90.46, 72.4, 51.86, 64
    ]  # fmt: skip
    assert table.loc[("delicious-200k", "plt-hashed"), "train_minutes"] == 1327
    assert table.loc[("wikilshtc-325k", "fastxml"), ["p@1", "p@3", "p@5"]].tolist() == [49.35, 32.69, 24.03]
    assert table.loc[("amazon-670k", "fastxml"), "p@5"] == 26.12


def test_cells_of_table_2():
    table = read("table2")
    assert table.loc[("rcv1-2k", "plt-hashed", "ofo")].tolist() == [21.56, 0.19, 212]
    assert table.loc[("delicious-200k", "plt-hashed", "sto")].tolist() == [10.96, 17.41, 29067]
    assert table.loc[("amazoncat-13k", "fastxml", "ofo"), "macro_f"] == 42.46
    assert table.loc[("amazon-670k", "fastxml", "fta")].tolist() == [52.86, 1.39, 796]


def test_cells_of_table_4():
    table = read("table4")
    assert table.loc[("plt-hashed", "rcv1-2k")].tolist() == [300, 20000, 22.20, 22.00, 20.41, 21.16]
    assert table.loc[("fastxml", "amazon-670k")].tolist() == [10000, 100000, 53.91, 52.86, 52.86, 47.53]
    assert table.loc[("plt-hashed", "amazoncat-13k"), "b"] == 5000


def test_cells_of_table_3():
    table = read("table3").droplevel(["dataset", "model"])
    assert table.loc["arity"].tolist() == [2, 256]
    assert table.loc["epochs"].tolist() == [5, 30]
    assert table.loc["lam"].tolist() == table.loc["gamma"].tolist() == [1e-6, 10]
    assert len(table) == 4


def test_the_ranges_of_the_configuration_are_those_of_table_3():
    table = read("table3").droplevel(["dataset", "model"])
    ranges = searched_models(read_suite(FOLDER.parents[1] / "config/papers/plt2016.yaml"))["plt"].ranges
    assert {name: (values.low, values.high) for name, values in ranges.items()} == {
        name: (row["low"], row["high"]) for name, row in table.iterrows()
    }


def test_text_of_section_6_1():
    """Each model is better on half of the datasets, and PLT trains faster below 6 labels per instance."""
    table = read("table1")
    plt, fastxml = table.xs("plt-hashed", level="model"), table.xs("fastxml", level="model")
    assert (plt["p@1"] > fastxml["p@1"]).sum() == 3
    assert ((plt["train_minutes"] < fastxml["train_minutes"]) == (plt["labels_per_instance"] < 6)).all()
    counts = ["m", "d", "n_test", "n_train", "instances_per_label", "labels_per_instance"]
    assert (plt[counts] == fastxml[counts]).all(axis=None)
    labels = plt["labels_per_instance"] * plt["n_train"]
    assert labels.to_numpy() == pytest.approx((plt["instances_per_label"] * plt["m"]).to_numpy(), rel=0.005)


def test_text_of_section_6_2():
    """FTA is PLT's fastest but on RCV1; PLT with OFO beats FastXML on three sets; FastXML has one cost for all."""
    table = read("table2")
    plt, fastxml = (table.xs(model, level="model").unstack("method") for model in ("plt-hashed", "fastxml"))
    fastest = plt["test_ms"].idxmin(axis=1)
    assert (fastest == "fta").sum() == 5
    assert fastest["rcv1-2k"] == "ofo"
    assert (plt["macro_f"]["ofo"] > fastxml["macro_f"].max(axis=1)).sum() == 3
    assert (fastxml["test_ms"].nunique(axis=1) == 1).all()
    assert (fastxml["inner_products"].nunique(axis=1) == 1).all()


def test_table_4_repeats_table_2():
    """Appendix D: the scores of STO and FTA are those of Table 2."""
    scores = read("table2")["macro_f"].unstack("method")
    table = read("table4").reorder_levels(["dataset", "model"])
    assert table["fta"].to_dict() == scores["fta"].to_dict()
    assert table["sto"].to_dict() == scores["sto"].to_dict()
