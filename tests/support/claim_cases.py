"""Claims decided on records made by hand."""

import pytest
from record_files import as_record


def decided(claim, *given):
    """Effect and verdict of a claim, by records or by the contents of their files."""
    outcome = claim.outcome(*([as_record(one) if isinstance(one, dict) else one for one in some] for some in given))
    return pytest.approx(outcome.effect.mean, nan_ok=True), outcome.word
