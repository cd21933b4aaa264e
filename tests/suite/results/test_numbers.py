"""Test the numbers of records, their means over seeds, published numbers, and tables read as
numbers.
"""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from facts import raises_with
from record_files import as_record
from report_cases import every_method, inference, ranking, sweep, thresholds

from xmlc.core.errors import XmlcError
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
    assert row.pop("resampled") is not None
    expected = {"dataset": "yeast", "model": "plt", "method": "", "variant": "", "split": "full"}
    assert row == expected | {"seed": 0, "quantity": "p@1", "value": 75.0, "record": Path("0.json")}
    rows = numbers.set_index(["record", "variant", "quantity"])["value"].sort_index()
    variants = rows[Path("1.json")].index.unique("variant")
    assert {*variants} == {"max_nodes=16", "max_nodes=64", "max_nodes=256", ABOUT}
    facts = rows[Path("0.json"), ABOUT]
    assert facts[["arity", "m", "n_test"]].to_list() == [16, 14, 917]
    assert facts["digest"] == ranking()["dataset"]["digest"]


def test_means_equal_sums_in_the_order_of_seeds():
    rng = np.random.default_rng(0)
    scores = (100 * rng.uniform(0, 1, 7)).tolist()
    seeds = rng.permutation(7).tolist()
    means = means_of(*(ranking(seed=seed, p1=scores[seed] / 100) for seed in seeds))
    scores = [100 * (score / 100) for score in scores]
    # `np.cumsum` adds one number after another.
    mean = np.cumsum(scores)[-1] / 7
    squares = np.cumsum((np.array(scores) - mean) ** 2)[-1]
    (row,) = means[means["quantity"] == "p@1"].to_dict("records")
    # every bit is equal
    assert (row["value"], row["deviation"], row["seeds"]) == (mean, math.sqrt(squares / 6), 7)
    assert row["records"] == tuple(Path(f"{seeds.index(seed)}.json") for seed in range(7))
    assert row["runs"] == tuple(enumerate(scores))


def test_pivot_has_a_row_for_each_key_in_the_order_of_numbers():
    records = [ranking("z", seed=0, p1=0.2), ranking("z", seed=1, p1=0.4), inference("a", "pcc")]
    table = table_of(*records, wanted=("p@1", "missing", "m", "samples"))
    expected = {
        "dataset": ["z", "a"],
        "model": ["plt", "pcc"],
        "p@1": [30, -1],
        "p@1_std": [pytest.approx(np.std([20, 40], ddof=1)), -1],
        "m": [14, 14],
        "samples": [-1, 200],
        "seeds": [2, 1],
    }
    assert table.fillna(-1).to_dict("list") == expected
    assert list(table) == list(expected)


def test_two_numbers_for_one_cell_are_refused():
    with raises_with(ValueError, "yeast"):
        means_of(ranking(), ranking())


def test_no_number_has_no_mean():
    means = mean_over_seeds(pd.DataFrame(columns=NUMBER, dtype=object), MODELS)
    assert {*means} == {*MODELS, "quantity", "value", "runs", "records", "seeds", "deviation"}
    assert means.merge(means, on=list(MODELS)).empty


def test_value_missing_for_one_seed_has_no_mean():
    records = [ranking(seed=0), ranking(seed=1, inner_products=None)]
    row = table_of(*records, wanted=("inner_products", "p@3")).iloc[0]
    assert pd.isna(row["inner_products"])
    assert row["p@3"] == 25


def test_different_choices_are_listed_instead_of_averaged():
    other = thresholds(method="ofo", seed=1, chosen=100)
    table = table_of(thresholds(method="ofo"), other, keys=METHODS, wanted=("a", "b"))
    assert table[["a", "b"]].to_numpy().tolist() == [[1, "10/100"]]
    same = [*every_method(), thresholds(method="ofo", seed=1)]
    table = table_of(*same, keys=METHODS, wanted=("b",))
    # Equal whole numbers stay whole, so that CSV files have 10 and not 10.0.
    assert table["b"].fillna(-1).astype(str).tolist() == ["-1", "-1", "10", "10", "-1"]


def test_published_rows_that_were_not_run_come_last():
    rows = [
        ("yeast", "plt", "p@1", "74.1"),
        ("yeast", "plt", "m", "14"),
        ("far", "mine", "p@1", "50.0"),
    ]
    published = pd.DataFrame(rows, columns=[*MODELS, "quantity", "value"])
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


def test_different_constants_of_a_published_dataset_are_refused(tmp_path):
    file = tmp_path / "table1.csv"
    file.write_text("dataset,model,m,p@1\na,plt,159,1\na,swnn,159.0,2\nb,plt,-,3\nb,swnn,14,4\n")
    assert len(read_published(file, MODELS)) == 8
    file.write_text("dataset,model,m\na,plt,159\nb,plt,983\na,swnn,983\n")
    with raises_with(XmlcError, "table1.csv", "a, m", "159 and 983"):
        read_published(file, MODELS)


def test_cells_of_a_file_are_texts_with_their_deviation_and_seeds(tmp_path):
    file = tmp_path / "table1.csv"
    deviation = 0.21060533511106927  # `pandas.to_numeric` of pandas 2.1 returns another number.
    file.write_text(f"dataset,model,p@1,p@1_std,p@3,seeds\na,plt,1.0,{deviation},,5\n")
    cells = read_cells(file, MODELS).set_index("quantity")
    assert cells.index.tolist() == ["p@1", "p@1_std", "p@3", "seeds"]
    expected = {"dataset": "a", "model": "plt", "value": "1.0", "deviation": deviation, "seeds": 5}
    assert cells.loc["p@1"].to_dict() == expected
    assert cells.loc["p@3", "value"] == ""
