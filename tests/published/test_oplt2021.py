"""oplt2021's tables as transcribed: cells, what the text says of them, and one place for each printed number."""

from collections import Counter

import pandas as pd
from repository import ROOT

from xmlc.data.catalogue import load_catalogue

FOLDER = ROOT / "results/published/oplt2021"
PRECISION = ["p@1", "p@3", "p@5"]
KEYS = ["dataset", "model"]
MODELS = ["parabel-single", "iplt", "cmt", "oplt-r", "oplt-b", "oplt-w"]
# Every number of Table 2 in the order in which it stands in the text, whose columns overlap.
TEXT = """
7.2 92.58 78.53 63.90 10.8 84.17 72.12 63.30 4.2 62.78 41.22 30.27 14.4 43.13 37.94 34.00
93.11 78.72 63.98 34.2 84.87 74.42 65.31 18.3 60.80 39.58 29.24 175.1 43.55 38.69 35.20 79.4
89.43 70.49 54.23 168.2 80.59 64.17 55.25 35.1
64.31 62.52 84.34 73.73 30.3 47.76 30.97 23.37 330.1 38.42 34.33 31.32 134.2 92.66 77.44 99.5
92.74 77.74 62.91 84.1 84.47 73.73 64.39 27.7 54.69 35.32 26.31 300.0 41.09 36.65 33.42 111.9
28.2 59.23 38.39 28.38 205.7 63.92 43.7 85.22 74.68 64.93 93.14 78.68 42.21 37.60 34.25 98.3
"""


def read(number, keys=None):
    return pd.read_csv(FOLDER / f"table{number}.csv", na_values="-").set_index(keys or KEYS)


def test_cells():
    scores, few = read(2), read(3)
    assert scores.loc[("amazoncat-13k", "oplt-w")].tolist() == [93.14, 78.68, 63.92, 43.7]
    assert scores.loc[("wiki10-31k", "oplt-r")].tolist() == [84.34, 73.73, 64.31, 30.3]
    assert scores.loc[("amazon-670k", "parabel-single")].tolist() == [43.13, 37.94, 34.00, 7.2]
    assert scores.loc[("wikilshtc-325k", "oplt-b")].tolist() == [54.69, 35.32, 26.31, 300.0]
    assert few.loc[("wikipara-5", "cmt")].tolist() == [4.21, 240.9]
    assert few.loc[("aloi", "oplt-b")].tolist() == [67.26, 18.1]


def test_each_number_of_the_text_has_one_place():
    rows = pd.read_csv(FOLDER / "table2.csv", dtype=str).set_index(KEYS)
    placed = Counter(value for value in rows.to_numpy().ravel() if value != "-")
    assert placed == Counter(TEXT.split())
    assert placed["73.73"] == 2


def test_every_method_on_every_dataset_and_cmt_where_it_fitted():
    scores = read(2)
    datasets = ["amazoncat-13k", "wiki10-31k", "wikilshtc-325k", "amazon-670k"]
    assert scores.index.tolist() == [(dataset, model) for dataset in datasets for model in MODELS]
    empty = scores.index[scores.isna().any(axis=1)]
    assert empty.tolist() == [("wikilshtc-325k", "cmt"), ("amazon-670k", "cmt")]
    assert scores.loc[empty].isna().all(axis=None)
    assert (scores.dropna()[PRECISION].diff(axis=1).iloc[:, 1:] < 0).all(axis=None)


def test_what_the_text_says_of_the_results():
    scores, few = read(2), read(3)
    best, large = scores.xs("oplt-b", level=1), ["wikilshtc-325k", "amazon-670k"]
    random, warm, offline = (scores.xs(name, level=1) for name in ("oplt-r", "oplt-w", "iplt"))
    assert (best.loc[large, PRECISION] > random.loc[large, PRECISION]).all(axis=None)
    assert (best.loc[large, PRECISION] < offline.loc[large, PRECISION]).all(axis=None)
    assert ((offline["p@1"] - warm["p@1"]).abs() < 1.6).all()
    online = pd.concat([best, random, warm])["train_cpu_minutes"]
    assert (online > offline["train_cpu_minutes"].reindex(online.index)).all()
    assert (few["accuracy"].unstack().loc[["wikipara-3", "wikipara-5"]].idxmax(axis=1) == "oplt-r").all()
    assert few["accuracy"].unstack().loc["aloi"].idxmax() == "cmt"


def test_sizes_are_the_catalogues():
    sizes, catalogue = read(1, "dataset"), load_catalogue(ROOT / "config/datasets.yaml")
    for name, row in sizes.iterrows():
        published = catalogue[name].published
        assert {key: row[key] for key in ("d", "m", "n_train", "n_test")}.items() <= published.items()
    shots = sizes["n_train"] / sizes["m"]
    assert shots[["wikipara-3", "wikipara-5"]].tolist() == [3, 5]
