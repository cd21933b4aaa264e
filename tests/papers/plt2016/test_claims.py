"""Claims of plt2016 on records made by hand: each holds on some and not on others."""

import pytest
from record_files import as_record
from report_cases import ranking, thresholds

from xmlc.papers.plt2016 import claims

SEEDS = (0, 1, 2)


def tuned(model="plt", validation=None, **test):
    """Records of methods, with the macro-F of each on the test set and, of some, on the validation set, in percent."""
    records = []
    for seed in SEEDS:
        for method, score in test.items():
            record = thresholds("bibtex", model, method.replace("_", "-"), seed, score / 100)
            record["best"]["validation"] = {"macro_f": (validation or test)[method] / 100}
            records.append(as_record(record))
    return records


def ranked(plt, fastxml):
    scores = {"plt": plt, "fastxml": fastxml}
    return [as_record(ranking("bibtex", name, seed, p / 100)) for name, p in scores.items() for seed in SEEDS]


def decided(claim, *records):
    """Effect and verdict of a claim."""
    outcome = claim.outcome(*records)
    return pytest.approx(outcome.effect.mean, nan_ok=True), outcome.word


def test_a_par_allows_what_the_paper_allows():
    assert decided(claims.precision_on_par, ranked(60, 63)) == (-3, "holds")
    assert decided(claims.precision_on_par, ranked(60, 64)) == (-4, "does not hold")
    assert decided(claims.precision_on_par, ranked(60, 64)[:3])[1] == "no data"


def test_sto_on_the_validation_set_against_the_better_of_the_others():
    test = {"fta": 40, "sto": 30, "ofo": 41}
    assert decided(claims.sto_best_on_validation, tuned(validation={"fta": 42, "sto": 50, "ofo": 43}, **test)) == (
        7, "holds"
    )  # fmt: skip
    assert decided(claims.sto_best_on_validation, tuned(**test)) == (-11, "does not hold")
    assert decided(claims.sto_best_on_validation, tuned("swnn", **test))[1] == "no data"  # no model of the paper
    assert decided(claims.sto_best_on_validation, tuned(fta=40, sto=50))[1] == "no data"
