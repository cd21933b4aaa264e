"""Decide claims on hand-made records."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from record_files import as_record
from report_cases import ranking

from xmlc.suite.papers import table_of
from xmlc.suite.results.numbers import read

SEEDS = (0, 1, 2)


def ranked(name="bibtex", about=(), **p1):
    """Return rankings by three seeds from the P@1 of each model in percent.

    ``about`` changes the description of the dataset.
    """
    records = []
    for model, score in p1.items():
        for seed in SEEDS:
            record = ranking(name, model.replace("_", "-"), seed, score / 100)
            record["dataset"] |= about
            records.append(record)
    return records


def numbers_of(*given):
    """Return the numbers of lists of records, or of the contents of their files."""
    records = []
    for some in given:
        for one in some:
            records.append(as_record(one) if isinstance(one, dict) else one)
    files = {Path(f"{record.KIND}-{place}.json"): record for place, record in enumerate(records)}
    return read(files, details=False)


def outcome_of(claim, *given):
    """Return the outcome of a claim on lists of records."""
    return claim.outcome(numbers_of(*given))


def decided(claim, *given):
    """Return the effect and verdict of a claim on lists of records."""
    outcome = outcome_of(claim, *given)
    return pytest.approx(outcome.effect.mean, nan_ok=True), outcome.word


def claims_by_name(paper):
    """Return the claims of a paper as attributes."""
    claims = table_of("claims", paper).claims
    return SimpleNamespace(**{claim.name.replace("-", "_"): claim for claim in claims})
