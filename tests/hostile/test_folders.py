"""Damaged folders of data and of estimates: their checksums tell, and without these the gate keeps kernels safe."""

import pytest
from fuzzing import count
from hostile_cases import in_child


@pytest.mark.parametrize("kind", ["data", "spe"])
def test_every_damage_is_told_by_the_checksums(kind):
    number = count(1000)
    lines = in_child("probe_folder.py", kind, "old", number, 0, seconds=60 + number / 20)
    assert [line for line in lines if line.startswith("WRONG")] == []
    assert lines[-1] == f"{number} refused"


@pytest.mark.parametrize("kind", ["data", "spe"])
def test_a_damage_that_was_listed_anew_is_refused_by_the_gate_or_computes_something(kind):
    number = count(300)
    lines = in_child("probe_folder.py", kind, "new", number, 0, seconds=60 + number / 5)
    assert [line for line in lines if line.startswith("WRONG")] == []
    assert int(lines[-1].split()[0]) > number / 2
