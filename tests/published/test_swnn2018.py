"""swnn2018's tables as transcribed: cells, and what follows from them about the paper's conventions."""

import pandas as pd
import pytest
from repository import ROOT

from xmlc.tables.summaries import NUMBERS

FOLDER = ROOT / "results/published/swnn2018"
DATASETS = ["amazoncat-13k", "wiki10-31k", "delicious-200k", "wikilshtc-325k", "amazon-670k", "amazon-3m"]


def read(number, keys="dataset"):
    return pd.read_csv(FOLDER / f"table{number}.csv", na_values="-").set_index(keys)


def test_cells():
    assert read(1).loc["wikilshtc-325k"].tolist() == [1617899, 1778351, 587084]
    assert read(2).loc["delicious-200k"].tolist() == [1, 3, 6, 17, 64548, 74]
    assert read(3).loc["amazon-3m"].tolist() == [1, 7, 20, 65, 100, 36]
    assert read(4).loc["wiki10-31k"].tolist() == [8, 282, 520, 925, 3288, 673]
    assert read(5).loc["amazon-670k"].tolist() == [1, 6, 13, 54, 209059, 273]
    table = read(6, ["dataset", "model"])
    assert table.loc[("amazon-670k", "swnn-searched")].tolist() == [
        41.43, 36.79, 33.70, 100.0, 93.40, 87.65, 75, 2.0, 1, 5.74
    ]  # fmt: skip
    assert table.loc[("wikilshtc-325k", "dismec"), ["p@1", "p@3", "p@5"]].tolist() == [64.40, 42.50, 31.50]


@pytest.mark.parametrize("number", range(1, 6))
def test_six_datasets_and_summaries_in_order(number):
    table = read(number)
    assert table.index.tolist() == DATASETS
    if number > 1:
        assert table.columns.tolist() == list(NUMBERS)
        in_order = table[["minimum", "lower_quartile", "median", "upper_quartile", "maximum"]]
        assert (in_order.diff(axis=1).iloc[:, 1:] >= 0).all(axis=None)
        assert table["mean"].between(table["minimum"], table["maximum"]).all()


def test_each_dataset_has_the_papers_row_and_one_quoted_that_has_no_hyperparameters():
    table = read(6, "dataset")
    assert table.index.tolist() == [name for name in DATASETS for _ in range(2)]
    own = table["model"] == "swnn-searched"
    assert own.tolist() == [True, False] * 6
    assert table[own].notna().all(axis=None)
    assert table.loc[~own, ["S", "alpha", "beta", "predict_ms"]].isna().all(axis=None)
    maxima = table.groupby(level=0)[["max_p@1", "max_p@3", "max_p@5"]].nunique()
    assert (maxima == 1).all(axis=None)
    assert all((table[f"p@{k}"] <= table[f"max_p@{k}"]).all() for k in (1, 3, 5))


def test_pairs_are_of_the_grid_and_s_too_but_on_wiki10():
    own = read(6, "dataset").query("model == 'swnn-searched'")
    assert {(0, 0), (0.5, 0), (1, 0), (1, 1), (2, 0), (2, 1)} >= set(zip(own["alpha"], own["beta"]))
    candidates = {name: {25, 50, 75, average} for name, average in read(3)["mean"].items()}
    assert [name for name, S in own["S"].items() if S not in candidates[name]] == ["wiki10-31k"]


def test_labels_and_features_that_never_occur_are_left_out():
    """Averages over all of them would be printed otherwise; see README.md."""
    sizes = read(1)
    delicious = 75.54 * sizes.loc["delicious-200k", "n_train"]  # pairs of instance and label
    assert round(delicious / 205_443) < read(2).loc["delicious-200k", "mean"] == 74
    activations = read(4)["mean"] * sizes["n_train"]
    over_all = activations / sizes["d"]
    assert over_all["wikilshtc-325k"] < 47 < read(5).loc["wikilshtc-325k", "mean"] == 54
    # On the others nearly every feature occurs, and both agree within the rounding of Table 4.
    bounds = 0.5 / read(4)["mean"] + 0.01
    differing = abs(read(5)["mean"] / over_all - 1) > bounds
    assert differing[differing].index.tolist() == ["wikilshtc-325k"]


def test_activations_and_labels_of_an_instance():
    """The text says several hundred activated features; only Table 4 has instances with nothing."""
    assert read(4)["mean"].max() < 700
    assert read(4).loc["amazon-3m", "minimum"] == 0
    assert (read(3)["minimum"] == 1).all()
