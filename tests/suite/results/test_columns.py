"""Test how numbers of columns are printed."""

import math

import pytest
import yaml

from xmlc.suite.results.columns import COLUMNS, column

PRINTED = """
p@1: {90.4567: '90.46', .nan: –}
hamming_loss: {0.41: '0.4100'}
inner_products: {252.4: '252'}
train_minutes: {1327.4: '1327', 0.012834: '0.0128'}
test_ms: {17.41: '17.4', 1.0e-9: '0.000000', .inf: inf}
c: {66.6667: '66.6667'}
b: {10/100: 10/100}
"""


@pytest.mark.parametrize(("name", "texts"), yaml.safe_load(PRINTED).items())
def test_numbers_are_printed_with_decimals_of_their_column(name, texts):
    assert {value: column(name).printed(value) for value in texts} == texts


@pytest.mark.parametrize(
    ("name", "value", "deviation", "printed"),
    [
        ("test_ms", 12.34, 0.00123, "12.3 ± 0.0"),
        ("depth", 155.2, 6.1307, "155.2 ± 6.1"),
        ("depth", 33.3333, 16.1307, "33.3 ± 16.1"),
        ("p@1", 63.0214, 0.9631, "63.02 ± 0.96"),
        ("p@1", 10.2345, 12.3456, "10.2 ± 12.3"),
        ("truncation_loss", 1.23456, 0.98765, "1.235 ± 0.988"),
        ("inner_products", 55.0, 0.0, "55 ± 0"),
        ("p@1", math.nan, math.nan, "–"),
    ],
)
def test_standard_deviation_limits_the_decimals(name, value, deviation, printed):
    assert column(name).printed(value, deviation) == printed


def test_standard_deviation_has_definition_of_its_column_without_direction():
    assert column("test_ms_std").cost
    assert (column("macro_f_std").decimals, column("macro_f_std").better) == (2, None)
    assert not column("anything_std").cost


def test_costs_are_measured_times_memory_and_sizes():
    costs = {name for name, definition in COLUMNS.items() if definition.cost}
    assert {"train_minutes", "test_ms", "model_mb", "train_peak_mb", "test_threads"} <= costs
    assert not {"inner_products", "macro_f", "p@1", "m", "c", "seeds"} & costs
    assert all(COLUMNS[name].better in (None, "lower") for name in costs)
