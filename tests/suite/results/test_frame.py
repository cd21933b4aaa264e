"""Test numbers of records, their means over seeds, and tables read as rows."""

import math
from pathlib import Path

import numpy as np
import pytest
from facts import raises_with
from record_files import as_record
from report_cases import every_method, ranking, sweep, thresholds

from xmlc.core.errors import XmlcError
from xmlc.suite.results.frame import Source, average, numbers_of, pivot, read_numbers

MODELS, METHODS = ("dataset", "model"), ("dataset", "model", "method")


def frame(keys, contents, *wanted):
    return pivot(average(numbers_of(Source(Path(), as_record(content)) for content in contents), keys), keys, wanted)


def sources(*contents):
    return [Source(f"{place}.json", as_record(content)) for place, content in enumerate(contents)]


def test_each_number_has_a_row_with_its_record():
    long = numbers_of(sources(ranking(p1=0.75), sweep()))
    (row,) = [row for row in long if row.quantity == "p@1" and not row.variant]
    assert (row.dataset, row.model, row.seed, row.value, row.records) == ("yeast", "plt", 0, 75.0, ("0.json",))
    of_sweep = [row for row in long if row.records == ("1.json",)]
    assert {row.variant for row in of_sweep} == {"max_nodes=16", "max_nodes=64", "max_nodes=256"}


def test_mean_has_its_runs_and_records():
    means = average(numbers_of(sources(ranking(seed=3, p1=0.2), ranking(seed=1, p1=0.4))), MODELS)
    found = means["yeast", "plt"]["p@1"]
    assert (found.value, found.runs, found.records) == (30, {1: 40, 3: 20}, ("1.json", "0.json"))


def test_two_numbers_for_one_cell_are_refused():
    with raises_with(ValueError, "yeast"):
        average(numbers_of(sources(ranking(), ranking())), MODELS)


def test_single_seed_has_no_standard_deviation():
    averaged = frame(MODELS, [ranking()], "p@1")
    assert averaged.to_dict("list") == {"dataset": ["yeast"], "model": ["plt"], "p@1": [75], "seeds": [1]}


def test_seeds_are_averaged_in_any_order():
    scores = [0.2, 0.4, 0.9]
    records = [ranking(seed=seed, p1=score) for seed, score in enumerate(scores)]
    averaged = frame(MODELS, records, "p@1", "m").iloc[0]
    assert averaged["p@1"] == pytest.approx(np.mean(scores) * 100)
    assert averaged["p@1_std"] == pytest.approx(np.std(scores, ddof=1) * 100)
    assert averaged[["m", "seeds"]].tolist() == [14, 3]
    backwards = frame(MODELS, records[::-1], "p@1").iloc[0]
    assert backwards[["p@1", "p@1_std"]].tolist() == averaged[["p@1", "p@1_std"]].tolist()


def test_value_missing_for_one_seed_has_no_mean():
    averaged = frame(MODELS, [ranking(seed=0), ranking(seed=1, inner_products=None)], "inner_products", "p@3").iloc[0]
    assert math.isnan(averaged["inner_products"])
    assert averaged["p@3"] == 25


def test_different_choices_are_listed_instead_of_averaged():
    records = [thresholds(method="ofo", seed=1, chosen=100), thresholds(method="ofo", seed=0, chosen=10)]
    assert frame(METHODS, records, "a", "b")[["a", "b"]].to_numpy().tolist() == [[1, "10/100"]]
    averaged = frame(METHODS, [record for seed in (0, 1) for record in every_method(seed=seed)], "b")
    assert averaged["b"].dtype == "Int64"
    assert averaged["b"].fillna(-1).tolist() == [-1, -1, 10, 10, -1]


def test_table_with_repeated_or_missing_keys_is_refused(tmp_path):
    file = tmp_path / "table1.csv"
    file.write_text("dataset,model,p@1\na,plt,1\na,plt,2\n")
    with raises_with(XmlcError, "table1.csv", "a, plt"):
        read_numbers(file, MODELS)
    with raises_with(XmlcError, "method"):
        read_numbers(file, ("dataset", "method"))
    file.write_text("dataset,model,p@1,p@3\na,plt,1.0,\n")
    (row,) = read_numbers(file, MODELS).values()
    assert {name: number.value for name, number in row.items()} == {"p@1": "1.0", "p@3": ""}
    assert (row["p@1"].dataset, row["p@1"].model, row["p@1"].key) == ("a", "plt", ("a", "plt"))
