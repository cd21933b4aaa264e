"""Test that config/costs.csv is what its command writes, and that measurements scale its rows."""

import pytest

from benchmarks.__main__ import group
from benchmarks.cost_table import TABLE, rounded


def written(folder):
    """Write the table, and return its text."""
    out = folder / "written.csv"
    group.main(["cost-table", "--out", str(out)], standalone_mode=False)
    return out.read_text()


def test_committed_table_is_what_the_command_writes(tmp_path):
    """After an edit of a suite, of the catalogue or of measurements, run the command again."""
    assert written(tmp_path) == TABLE.read_text()


@pytest.mark.parametrize(("amount", "short"), [(0.4, 0), (7.6, 8), (1234.5, 1230), (98765, 98800)])
def test_amounts_have_three_digits(amount, short):
    assert rounded(amount) == short
