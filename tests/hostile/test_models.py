"""Models that were damaged on disk are refused, or predict something; no process ends by a signal, none hangs."""

import pytest
from fuzzing import count, folder_in_memory
from hostile_cases import in_child

VARIANTS = (
    *("plt", "plt-compact", "plt-hashed", "parabel", "fastxml", "ldsm", "swnn", "swnn-tables", "br", "pcc"),
    *("oplt", "oplt-complete", "oplt-sets"),
)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_damaged_model_is_refused_or_predicts(variant):
    times = count(150)
    with folder_in_memory() as folder:
        lines = in_child("probe_model.py", variant, folder, times, 0, seconds=300 + times // 10)
    assert [line for line in lines if line.startswith("WRONG")] == []
    assert int(lines[-1].split()[0]) > 0
