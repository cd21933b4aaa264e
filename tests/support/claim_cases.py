"""Decide claims on hand-made records."""

import pytest
from record_files import as_record


def decided(claim, *given):
    """Return the effect and verdict of a claim, from records or the contents of their files."""
    outcome = claim.outcome(*([as_record(one) if isinstance(one, dict) else one for one in some] for some in given))
    return pytest.approx(outcome.effect.mean, nan_ok=True), outcome.word
