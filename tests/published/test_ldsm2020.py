"""ldsm2020's tables as transcribed: cells, what the text says about them, and what other papers print of the same."""

import math

import pandas as pd
import pytest
from repository import ROOT

from xmlc.data.catalogue import load_catalogue

FOLDER = ROOT / "results/published/ldsm2020"
SMALL, LARGE = ["mediamill", "bibtex", "delicious"], ["amazoncat-13k", "wiki10-31k", "delicious-200k"]
DATASETS = [*SMALL, *LARGE, "wikilshtc-325k", "amazon-670k"]
KEYS = ["dataset", "model"]
PRECISION = ["p@1", "p@3", "p@5"]


def read(number, keys=KEYS, paper="ldsm2020"):
    file = ROOT / f"results/published/{paper}/table{number}.csv"
    return pd.read_csv(file, na_values="-").set_index(keys)


def test_cells():
    scores = read(7)
    assert scores.loc[("delicious", "ldsm")].tolist() == [71.91, 65.34, 60.24, 71.91, 66.90, 63.09]
    assert scores.loc[("bibtex", "ldsm")].tolist() == [64.69, 39.70, 29.25, 64.69, 60.37, 62.73]
    assert scores.loc[("amazon-670k", "leml")].tolist() == [8.13, 6.83, 6.03, 8.13, 7.30, 6.85]
    assert scores.loc[("wikilshtc-325k", "ppdsparse")].dropna().tolist() == [64.08, 41.26, 30.12]
    times, elsewhere = read(5)["predict_ms"], read(2)["predict_ms"]
    assert times["bibtex", "pdsparse"] == 0.007
    assert elsewhere.to_dict() == {("wiki10-31k", "ldsm"): 0.2, ("delicious-200k", "ldsm"): 5.64}
    assert times[elsewhere.index].tolist() == [0.2, 5.65]
    assert read(6)["train_seconds"][("wikilshtc-325k", "dismec")] == 271407
    assert read(4, "dataset").loc["delicious-200k"].tolist() == [46, 2]


def test_every_method_on_every_dataset_and_pure_trees_have_times():
    scores, prediction, training = read(7), read(5), read(6)
    assert scores.index.get_level_values(0).unique().tolist() == DATASETS
    assert (scores.groupby(level=0).size() == 14).all()
    assert prediction.index.equals(training.index)
    assert set(prediction.index) <= set(scores.index)
    for table in (scores[PRECISION], prediction, training):
        assert table.xs("ldsm", level=1).notna().all(axis=None)


def test_precision_and_ndcg_at_1_are_one_number_but_in_three_cells():
    scores = read(7).dropna()
    assert ((scores[PRECISION].diff(axis=1).iloc[:, 1:]) < 0).all(axis=None)
    differing = scores[scores["p@1"] != scores["ndcg@1"]]
    assert differing.index.tolist() == [("wiki10-31k", "parabel"), ("wiki10-31k", "dismec"), ("amazon-670k", "sleec")]
    assert scores["ndcg@1"]["wiki10-31k", "parabel"] == scores["p@1"]["wiki10-31k", "fastxml"]


def test_what_other_papers_print_of_the_same_methods():
    ours, plt2016, swnn2018 = read(7)[PRECISION], read(1, paper="plt2016"), read(6, paper="swnn2018")
    plt = [name for name in DATASETS if (name, "plt-hashed") in plt2016.index]
    assert len(plt) == 5
    for name in plt:
        assert ours.loc[(name, "plt")].tolist() == plt2016.loc[(name, "plt-hashed"), PRECISION].tolist()
    quoted = [key for key in swnn2018.index if key in ours.index]
    assert len(quoted) == 5
    for key in quoted:
        assert ours.loc[key].tolist() == swnn2018.loc[key, PRECISION].tolist()


def test_sizes_are_the_catalogues():
    sizes, catalogue = read(3, "dataset"), load_catalogue(ROOT / "config/datasets.yaml")
    for name, row in sizes.iterrows():
        published = catalogue[name].published
        assert {key: row[key] for key in ("d", "m", "n_train", "n_test")}.items() <= published.items()


def test_averages_of_small_sets_are_over_training_and_test_set():
    sizes = read(3, "dataset")
    over_training = sizes["n_train"] * sizes["labels_per_instance"] / sizes["m"]
    over_all = over_training * (1 + sizes["n_test"] / sizes["n_train"])
    small = [*SMALL, "eurlex-4k"]
    expected = over_training.mask(sizes.index.isin(small), over_all)
    assert sizes["instances_per_label"].tolist() == pytest.approx(expected.tolist(), rel=0.01)
    assert (abs(over_training[small] / sizes["instances_per_label"][small] - 1) > 0.1).all()


def test_depths_lie_within_the_intervals_of_the_text_but_for_delicious():
    depths, labels = read(4, "dataset"), read(3, "dataset")["m"]
    ratio = {name: row["depth"] / math.log(labels[name], row["arity"]) for name, row in depths.iterrows()}
    assert all(1 <= value <= 3 for value in ratio.values())
    twice = ("delicious", "amazoncat-13k", "wiki10-31k", "wikilshtc-325k", "amazon-670k")
    assert [name for name in twice if ratio[name] > 2] == ["delicious"]
    assert round(ratio["delicious"], 2) == 2.01
