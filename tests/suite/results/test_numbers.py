"""Test the numbers of records, their means over seeds, published numbers, and tables read as
numbers.
"""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from facts import raises_with
from record_files import as_record
from report_cases import every_method, inference, ranking, sweep, thresholds

from xmlc.core.errors import XmlcError
from xmlc.suite.results.columns import column
from xmlc.suite.results.numbers import (
    ABOUT,
    NUMBER,
    mean_over_seeds,
    pivot,
    read,
    read_cells,
    read_published,
    with_published,
)

MODELS = ("dataset", "model")
METHODS = ("dataset", "model", "method")


def numbers_of(*contents):
    return read(
        {Path(f"{place}.json"): as_record(content) for place, content in enumerate(contents)}
    )


def means_of(*contents, keys=MODELS):
    numbers = numbers_of(*contents)
    return mean_over_seeds(numbers[numbers["variant"] == ""], keys)


def table_of(*contents, keys=MODELS, wanted=("p@1",)):
    return pivot(means_of(*contents, keys=keys), keys, wanted)


def test_each_number_has_a_row_with_its_record():
    numbers = numbers_of(ranking(p1=0.75), sweep())
    assert list(numbers) == NUMBER
    (row,) = numbers[(numbers["quantity"] == "p@1") & (numbers["variant"] == "")].to_dict("records")
    assert row["resampled"] is not None
    del row["resampled"]
    assert row == {
        "dataset": "yeast",
        "model": "plt",
        "method": "",
        "variant": "",
        "split": "full",
        "seed": 0,
        "quantity": "p@1",
        "value": 75.0,
        "record": Path("0.json"),
    }
    variants = numbers[numbers["record"] == Path("1.json")]["variant"]
    assert {*variants} == {"max_nodes=16", "max_nodes=64", "max_nodes=256", ABOUT}


def test_facts_are_hyperparameters_and_the_size_and_digest_of_the_dataset():
    numbers = numbers_of(ranking())
    facts = numbers[numbers["variant"] == ABOUT].set_index("quantity")["value"]
    assert facts[["arity", "m", "n_test"]].to_list() == [16, 14, 917]
    assert facts["digest"] == ranking()["dataset"]["digest"]


def test_mean_has_its_deviation_seeds_and_records():
    means = means_of(ranking(seed=3, p1=0.2), ranking(seed=1, p1=0.4))
    (row,) = means[means["quantity"] == "p@1"].to_dict("records")
    assert (row["value"], row["seeds"]) == (30, 2)
    assert row["deviation"] == pytest.approx(np.std([20, 40], ddof=1))
    assert row["records"] == (Path("1.json"), Path("0.json"))


def test_means_equal_sums_in_the_order_of_seeds():
    rng = np.random.default_rng(0)
    scores = rng.uniform(0, 1, (3, 7)).tolist()
    records = []
    for place, runs in enumerate(scores):
        records += [ranking(f"d{place}", seed=seed, p1=score) for seed, score in enumerate(runs)]
    shuffled = [records[place] for place in rng.permutation(len(records))]
    means = means_of(*shuffled)
    means = means[means["quantity"] == "p@1"].set_index("dataset")
    for place, runs in enumerate(scores):
        total = 0.0
        for score in runs:
            total += 100 * score
        mean = total / len(runs)
        squares = 0.0
        for score in runs:
            squares += (100 * score - mean) * (100 * score - mean)
        found = means.loc[f"d{place}"]
        # every bit is equal
        assert (found["value"], found["deviation"]) == (mean, math.sqrt(squares / 6))


def test_pivot_has_a_row_for_each_key_and_equals_a_loop_over_cells():
    records = [
        ranking(name, model, seed, 0.1 * seed + 0.2)
        for name, model, seed in product("zy", "ba", (0, 1))
    ]
    means = means_of(*records, inference(name="y", model="c"))
    table = pivot(means, MODELS, ("p@1", "missing", "samples"))
    assert list(table) == ["dataset", "model", "p@1", "p@1_std", "samples", "seeds"]
    keys = [tuple(key) for key in table[[*MODELS]].to_numpy()]
    # the order of the numbers
    assert keys == [("z", "b"), ("z", "a"), ("y", "b"), ("y", "a"), ("y", "c")]
    cells = {
        tuple(row[:3]): row[3]
        for row in means[[*MODELS, "quantity", "value"]].itertuples(index=False)
    }
    for key, p1, samples in zip(keys, table["p@1"], table["samples"], strict=True):
        assert p1 == pytest.approx(cells.get((*key, "p@1"), np.nan), nan_ok=True)
        assert samples == pytest.approx(cells.get((*key, "samples"), np.nan), nan_ok=True)


def test_details_are_read_for_figures_only():
    records = {Path("0.json"): as_record(thresholds())}
    assert {*read(records)["variant"]} == {"", ABOUT, "grid 0", "grid 1", "grid 2"}
    assert {*read(records, details=False)["variant"]} == {"", ABOUT}


def test_values_have_the_unit_of_their_column():
    record = ranking(
        p1=0.5, seconds=90.0, costs=ranking(seconds=90.0)["costs"] | {"model_bytes": 2_500_000}
    )
    numbers = numbers_of(record)
    values = numbers[numbers["variant"] == ""].set_index("quantity")["value"]
    units = {
        "p@1": "%",
        "train_minutes": "min",
        "train_seconds": "s",
        "predict_ms": "ms",
        "model_mb": "MB",
    }
    assert {name: column(name).unit for name in units} == units
    assert [values[name] for name in units] == [50, 1.5, 90, 0.0123, 2.5]


def test_two_numbers_for_one_cell_are_refused():
    with raises_with(ValueError, "yeast"):
        means_of(ranking(), ranking())


def test_no_number_has_no_mean():
    means = mean_over_seeds(pd.DataFrame(columns=NUMBER, dtype=object), MODELS)
    assert {*means} == {*MODELS, "quantity", "value", "runs", "records", "seeds", "deviation"}
    assert means.merge(means, on=list(MODELS)).empty


def test_single_seed_has_no_standard_deviation():
    table = table_of(ranking())
    assert table.to_dict("list") == {
        "dataset": ["yeast"],
        "model": ["plt"],
        "p@1": [75],
        "seeds": [1],
    }


def test_seeds_are_averaged_in_any_order():
    scores = [0.2, 0.4, 0.9]
    records = [ranking(seed=seed, p1=score) for seed, score in enumerate(scores)]
    row = table_of(*records, wanted=("p@1", "m")).iloc[0]
    assert row["p@1"] == pytest.approx(np.mean(scores) * 100)
    assert row["p@1_std"] == pytest.approx(np.std(scores, ddof=1) * 100)
    assert row[["m", "seeds"]].tolist() == [14, 3]
    backwards = table_of(*records[::-1]).iloc[0]
    assert backwards[["p@1", "p@1_std"]].tolist() == row[["p@1", "p@1_std"]].tolist()


def test_value_missing_for_one_seed_has_no_mean():
    records = [ranking(seed=0), ranking(seed=1, inner_products=None)]
    row = table_of(*records, wanted=("inner_products", "p@3")).iloc[0]
    assert pd.isna(row["inner_products"])
    assert row["p@3"] == 25


def test_different_choices_are_listed_instead_of_averaged():
    records = [
        thresholds(method="ofo", seed=1, chosen=100),
        thresholds(method="ofo", seed=0, chosen=10),
    ]
    table = table_of(*records, keys=METHODS, wanted=("a", "b"))
    assert table[["a", "b"]].to_numpy().tolist() == [[1, "10/100"]]
    records = []
    for seed in (0, 1):
        records += every_method(seed=seed)
    table = table_of(*records, keys=METHODS, wanted=("b",))
    # Equal whole numbers stay whole, so that CSV files have 10 and not 10.0.
    assert table["b"].fillna(-1).astype(str).tolist() == ["-1", "-1", "10", "10", "-1"]


def test_published_rows_that_were_not_run_come_last():
    published = pd.DataFrame(
        [
            ("yeast", "plt", "p@1", "74.1"),
            ("yeast", "plt", "m", "14"),
            ("far", "mine", "p@1", "50.0"),
        ],
        columns=[*MODELS, "quantity", "value"],
    )
    joined = with_published(means_of(ranking(), ranking(model="fastxml")), published, MODELS)
    texts = joined.set_index([*MODELS, "quantity"])["published"]
    assert texts["yeast", "plt", "p@1"] == "74.1"
    assert texts["yeast", "fastxml", "p@1"] == ""
    # The size of a dataset applies to all its rows.
    assert texts["yeast", "fastxml", "m"] == "14"
    last = joined.iloc[-1]
    assert last[["dataset", "model", "published"]].tolist() == ["far", "mine", "50.0"]
    assert pd.isna(last["value"])


def test_table_with_repeated_or_missing_keys_is_refused(tmp_path):
    file = tmp_path / "table1.csv"
    file.write_text("dataset,model,p@1\na,plt,1\na,plt,2\n")
    with raises_with(XmlcError, "table1.csv", "a, plt"):
        read_cells(file, MODELS)
    with raises_with(XmlcError, "method"):
        read_cells(file, ("dataset", "method"))


def test_published_measure_that_is_no_number_is_refused(tmp_path):
    file = tmp_path / "table1.csv"
    file.write_text("dataset,model,p@1,p@3,found_by\na,plt,62.5,-,grid\n")
    assert read_published(file, MODELS)["value"].tolist() == ["62.5", "-", "grid"]
    file.write_text("dataset,model,p@1\na,plt,6x2.5\n")
    with raises_with(XmlcError, "table1.csv", "a, plt", "6x2.5", "p@1"):
        read_published(file, MODELS)


def test_cells_of_a_file_are_texts_with_their_deviation_and_seeds(tmp_path):
    file = tmp_path / "table1.csv"
    deviation = 0.21060533511106927  # `pandas.to_numeric` of pandas 2.1 returns another number.
    file.write_text(f"dataset,model,p@1,p@1_std,p@3,seeds\na,plt,1.0,{deviation},,5\n")
    cells = read_cells(file, MODELS).set_index("quantity")
    assert cells.index.tolist() == ["p@1", "p@1_std", "p@3", "seeds"]
    assert cells.loc["p@1", ["dataset", "model", "value"]].tolist() == ["a", "plt", "1.0"]
    assert cells.loc["p@1", ["deviation", "seeds"]].tolist() == [deviation, 5]
    assert cells.loc["p@3", "value"] == ""
