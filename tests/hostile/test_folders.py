"""Damaged folders of data and of estimates: their checksums tell."""

import pytest
from fuzzing import count
from hostile_cases import in_child


@pytest.mark.parametrize("kind", ["data", "spe"])
def test_every_damage_is_told_by_the_checksums(kind):
    number = count(1000)
    lines = in_child("probe_folder.py", kind, number, 0, seconds=60 + number / 20)
    assert [line for line in lines if line.startswith("WRONG")] == []
    assert lines[-1] == f"{number} refused"
