"""Check the transcribed tables: keys, columns, sources, and sizes of datasets."""

import pandas as pd
import pytest
from claim_cases import claims_by_name
from repository import ROOT

from xmlc.suite.config.catalogue import load_catalogue
from xmlc.suite.config.suite import read_suite
from xmlc.suite.papers import table_of
from xmlc.suite.papers.ldsm2020.claims import NDCG, PRECISION
from xmlc.suite.papers.outcome import OTHER_SPLITS
from xmlc.suite.results.columns import COLUMNS

FOLDER = ROOT / "results/published"
FILES = sorted(file for file in FOLDER.glob("*/*.csv") if file.parent.name != "tuning")


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_table_begins_with_unique_keys_and_has_a_source(file):
    frame = pd.read_csv(file, dtype=str)
    keys = table_of(file.stem, file.parent.name).keys
    assert tuple(frame.columns[: len(keys)]) == keys
    assert not frame.duplicated(list(keys)).any()
    assert set(frame.columns) <= set(COLUMNS)
    assert not frame.isna().any().any()
    assert file.name in (file.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", ["ldsm2020/table3", "oplt2021/table1", "plt2016/table1"])
def test_published_sizes_agree_with_catalogue(table):
    sizes = pd.read_csv(FOLDER / f"{table}.csv", na_values="-").set_index("dataset")
    keys = ["d", "m", "n_train", "n_test"]
    keys += ["instances_per_label", "labels_per_instance"] if table == "plt2016/table1" else []
    catalogue = load_catalogue(ROOT / "config/datasets.yaml")
    for name, row in sizes.iterrows():
        assert {key: row[key] for key in keys}.items() <= catalogue[name].published.items()


def test_claims_and_catalogue_list_the_same_shared_splits():
    entries = load_catalogue(ROOT / "config/datasets.yaml").items()
    splits = []
    for name, entry in entries:
        for split in entry.splits.values():
            if "report_on" in split:
                splits.append((split["report_on"], name))
    assert dict(splits) == OTHER_SPLITS


def test_configured_search_ranges_equal_table_3():
    table = pd.read_csv(FOLDER / "plt2016/table3.csv").set_index("hyperparameter")
    ranges = read_suite(ROOT / "config/papers/plt2016.yaml").models["plt"].search.ranges
    assert {name: (values.low, values.high) for name, values in ranges.items()} == {
        name: (row["low"], row["high"]) for name, row in table.iterrows()
    }


def published_numbers(table):
    """Return the numbers of a published table by dataset and model. Missing numbers are NaN."""
    return pd.read_csv(FOLDER / f"{table}.csv", na_values="-").set_index(["dataset", "model"])


def published_difference(column, one, other):
    """Return the published difference of two models for each dataset with numbers of both
    models.
    """
    by_model = column.unstack("model")
    return (by_model[one] - by_model[other]).dropna().to_dict()


def test_published_effects_of_claims_agree_with_tables():
    plt = published_difference(published_numbers("plt2016/table1")["p@1"], "plt-hashed", "fastxml")
    assert claims_by_name("plt2016").precision_on_par.printed[""] == pytest.approx(plt)
    table = published_numbers("ldsm2020/table7")
    for rival, declared in claims_by_name("ldsm2020").as_good_as_other_trees.printed.items():
        means = [
            published_difference(table[list(names)].mean(axis=1, skipna=False), "ldsm", rival)
            for names in (PRECISION, NDCG)
        ]
        least = {name: min(gain, means[1].get(name, gain)) for name, gain in means[0].items()}
        assert declared == pytest.approx(least, abs=0.0051)
    oplt = claims_by_name("oplt2021")
    p1 = published_numbers("oplt2021/table2")["p@1"]
    assert oplt.warm_start_as_good_as_offline.printed[""] == pytest.approx(
        published_difference(p1, "oplt-w", "iplt")
    )
    both = [published_difference(p1, policy, "iplt") for policy in ("oplt-r", "oplt-b")]
    for name, declared in oplt.as_good_as_offline.printed[""].items():
        assert declared == pytest.approx((both[0][name] + both[1][name]) / 2, abs=0.0051)
    accuracy = published_numbers("oplt2021/table3")["accuracy"]
    for subject, declared in oplt.similar_to_memory_tree.printed.items():
        policy = "oplt-r" if "OPLT-R" in subject else "oplt-b"
        assert declared["aloi"] == pytest.approx(
            published_difference(accuracy, policy, "cmt")["aloi"]
        )
