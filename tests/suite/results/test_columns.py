"""Test how numbers of columns are printed."""

import math

import pytest

from xmlc.suite.results.columns import COLUMNS, column


@pytest.mark.parametrize(
    ("name", "value", "printed"),
    [
        ("p@1", 90.4567, "90.46"),
        ("hamming_loss", 0.41, "0.4100"),
        ("inner_products", 252.4, "252"),
        ("train_minutes", 1327.4, "1327"),
        ("train_minutes", 0.012834, "0.0128"),
        ("test_ms", 17.41, "17.4"),
        ("test_ms", 1e-9, "0.000000"),
        ("c", 66.6667, "66.6667"),
        ("b", "10/100", "10/100"),
        ("p@1", math.nan, "–"),
        ("test_ms", math.inf, "inf"),
    ],
)
def test_numbers_are_printed_with_decimals_of_their_column(name, value, printed):
    assert column(name).printed(value) == printed


def test_standard_deviation_is_printed_like_its_value():
    assert column("test_ms").printed(0.00123, beside=12.34) == "0.0"
    assert column("depth").printed(16.1307, beside=155.2) == "16.1"


def test_standard_deviation_has_definition_of_its_column_without_direction():
    assert column("test_ms_std").cost
    assert (column("macro_f_std").decimals, column("macro_f_std").better) == (2, None)
    assert not column("anything_std").cost


def test_costs_are_measured_times_memory_and_sizes():
    costs = {name for name, definition in COLUMNS.items() if definition.cost}
    assert {"train_minutes", "test_ms", "model_mb", "train_peak_mb", "test_threads"} <= costs
    assert not {"inner_products", "macro_f", "p@1", "m", "c", "seeds"} & costs
    assert all(COLUMNS[name].better in (None, "lower") for name in costs)
