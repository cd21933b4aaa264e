"""Build the table of a paper's claims, with the cases that decide each claim as details."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd

from xmlc.data.synthetic import is_synthetic
from xmlc.suite.config.planned import Where
from xmlc.suite.papers.claims import Claim
from xmlc.suite.papers.notes import digests_line, synthetic_line
from xmlc.suite.papers.outcome import AGAINST, FOR, OPEN, OPPOSITE, Case, Outcome
from xmlc.suite.papers.tables import Table, TableSpec, columns
from xmlc.suite.results.columns import COST
from xmlc.suite.results.intervals import Estimate
from xmlc.suite.results.numbers import SEEDS
from xmlc.suite.results.verdicts import ClaimVerdict

CLAIMS = "claims"  # The name of each paper's table of claims.
DETAILS = ("claim", "dataset", "subject")  # The keys of the cases of claims.
# The values in the columns `DECIDED` depend on the records.
DECIDED = ("effect", "lower", "upper", "supports", "contradicts", "opposites", "lost", "verdict")
ALL_DECIDED = (*DECIDED, *(COST + name for name in DECIDED))
# Effects in the CSV file are rounded to `DIGITS` decimals, because the logarithms and exponentials
# of two libraries may differ in the last bit.
DIGITS = 9
SIDES = {FOR: "for", OPEN: "open", AGAINST: "against", OPPOSITE: "opposite sign"}
FITTED = "‡"  # Printed after verdicts that depend on settings fitted to published test results.
CAPTION = "Statements of the paper, tested on this run. A statement holds if more than half of its cases are for it."
RULES = (
    "A case is a dataset and a subject. The effect of a case is the mean over paired runs with a 95 % interval.",
    "A case is for the statement if its interval lies above the margin (default: no difference). "
    "A case is against the statement if its interval lies below the margin.",
    "If at least half of the cases are neither for nor against, "
    "the mean over three or more datasets decides, "
    "unless a case contradicts this mean.",
    "Published: the paper's mean effect. "
    "Opposite sign: "
    "a case for the statement whose effect has the opposite sign of the published effect.",
    "Cases changed by bootstrap error: cases whose side changes if intervals include this error.",
    "Stated: verbatim (in the paper's terms), derived (follows from the paper) or xmlc (added here).",
)


def claims_table(claims: Sequence[Claim]) -> TableSpec:
    """Declare the table of a paper's claims, with one row for each claim.

    Raises
    ------
    ValueError
        Two entries of ``needs`` have the same kind and training split, so a file could belong to
        either entry.
    """
    needs = tuple(dict.fromkeys(need for one in claims for need in one.needs))
    if len({(need.kind, need.split) for need in needs}) < len(needs):
        raise ValueError("claims: found two needs of one kind and training split, expected one")

    def rows(table: Table) -> pd.DataFrame:
        return _rows(claims, needs, table)

    return TableSpec(
        name=CLAIMS,
        needs=needs,
        keys=("claim",),
        columns=("stated", "printed", *ALL_DECIDED, "cases", SEEDS),
        rows=rows,
        panels=(
            columns(
                "",
                *("stated", "effect", "printed", "lost", "verdict"),
                names=("statement", "source", "unit"),
                contests={},
            ),
            columns(
                "{statement} ({unit})",
                *("unit_effect", "printed", "on_tests", "seeds", "side"),
                optional=("on_tests",),
                details=DETAILS,
                names=("dataset", "subject"),
                each="claim",
                contests={},
            ),
        ),
        caption=CAPTION,
        notes=(partial(_notes, claims),),
        partial=True,
        takes_suite=True,
    )


def _rows(claims: Sequence[Claim], needs: Sequence[Where], table: Table) -> pd.DataFrame:
    """Return the cells of each claim's row, and write the cases to the table's details."""
    # The claims of papers are not about synthetic data.
    numbers = table.numbers[~table.numbers["dataset"].map(is_synthetic).astype(bool)]
    models = {}
    if table.suite:
        models = table.suite.all_models
    fitted = [name for name, model in models.items() if model.fitted_settings]
    chosen = set()
    for model in models.values():
        for dataset, origin in model.selected.items():
            chosen |= {(dataset, quantity) for quantity in origin.fitted}
    cells: list[dict[str, Any]] = []
    details: list[dict[str, Any]] = []
    for claim in claims:
        own = numbers[numbers["need"].isin([needs.index(need) for need in claim.needs])]
        outcome = claim.outcome(own)
        depends = any((case.dataset, claim.said.quantity) in chosen for case in outcome.cases)
        if own["model"].isin(fitted).any():
            rest = claim.outcome(own[~own["model"].isin(fitted)])
            depends = depends or repr(rest) != repr(outcome)
        cells += _row(claim, outcome, FITTED if depends else "")
        for case in outcome.cases:
            details += _detail(claim, case, bool(outcome.tested))
    columns_of_details = [*DETAILS, "quantity", "value", "words"]
    table.details = pd.DataFrame(details, columns=columns_of_details)
    rows = pd.DataFrame(cells, columns=["claim", "quantity", "value", "words"], dtype=object)
    return rows.assign(deviation=math.nan, seeds=math.nan)


def counted(table: Table) -> pd.Series:
    """Return the verdict on each verbatim statement that is not about costs, by statement."""
    verdicts = table.means.pivot(index="claim", columns="quantity", values="value")
    counts = (verdicts["stated"] == "verbatim") & verdicts["verdict"].notna()
    return (
        verdicts[counts]
        .reindex(table.means["claim"].unique())
        .dropna(subset="verdict")
        .set_index("statement")["verdict"]
    )


def claims_line(counts: Counter[ClaimVerdict]) -> str:
    """Return a line with the number of claims that hold, and of those with another verdict.

    A verdict is left out if no claim has this verdict.
    """
    words = {verdict: str(verdict) for verdict in ClaimVerdict if verdict is not ClaimVerdict.HOLDS}
    if counts[ClaimVerdict.DOES_NOT_HOLD] != 1:
        words[ClaimVerdict.DOES_NOT_HOLD] = "do not hold"
    rest = [f"{counts[verdict]} {text}" for verdict, text in words.items() if counts[verdict]]
    return ", ".join([f"{counts[ClaimVerdict.HOLDS]} of {counts.total()} claims hold", *rest])


def _row(claim: Claim, outcome: Outcome, mark: str) -> list[dict[str, Any]]:
    """Return the cells of a claim's row."""
    effect = outcome.effect
    numbers = [round(value, DIGITS) for value in (effect.mean, effect.lower, effect.upper)]
    decided = zip(DECIDED, (*numbers, *outcome.sides, outcome.lost, outcome.word), strict=True)
    said = claim.said
    values: dict[str, object] = {"statement": said.statement, "source": said.source}
    values |= {"unit": said.unit, "stated": said.stated}
    values |= {"printed": round(claim.mean_in_print, DIGITS)}
    # Claims about times and memory have separate columns, because their effects and verdicts differ
    # from run to run.
    values |= dict.fromkeys(ALL_DECIDED)
    values |= {(COST if claim.said.cost else "") + name: value for name, value in decided}
    values["cases"] = len(outcome.cases)
    words = {
        "effect": claim.scale.printed(effect),
        "printed": claim.scale.printed(Estimate(claim.mean_in_print)),
        "verdict": f"{outcome.verdict} {mark}".rstrip(),
        "lost": "" if outcome.lost is None else f"{outcome.lost} of {outcome.tested}",
    }
    values[SEEDS] = min((case.seeds for case in outcome.cases), default=0)
    return [
        {"claim": claim.name, "quantity": name, "value": value, "words": words.get(name)}
        for name, value in values.items()
    ]


def _detail(claim: Claim, case: Case, tested: bool) -> list[dict[str, Any]]:
    """Return the cells of one case of a claim."""
    words = {
        "statement": claim.said.statement,
        "unit": claim.said.unit,
        "unit_effect": claim.scale.printed(case.effect),
        "printed": claim.scale.printed(Estimate(case.printed)),
        SEEDS: str(case.seeds),
        "side": SIDES[case.side] if case.effect.has_interval else "one seed",
    }
    if tested:
        words["on_tests"] = ""
        if case.on_tests.has_interval:
            words["on_tests"] = claim.scale.printed(case.on_tests)
    key = {"claim": claim.name, "dataset": case.dataset, "subject": case.subject}
    return [key | {"quantity": name, "value": None, "words": text} for name, text in words.items()]


def _notes(claims: Sequence[Claim], table: Table) -> list[str]:
    lines = [*RULES, *(f"{_quoted(one)}: about {one.about[0]}." for one in claims if one.about)]
    for one in claims:
        if one.said.margin is not None:
            lines.append(f"{_quoted(one)}: margin {one.said.margin:g}, {one.said.because}.")
    verdicts = table.means[table.means["quantity"] == "verdict"]
    fitted = {*verdicts.loc[verdicts["words"].str.endswith(FITTED), "claim"]}
    rests = [one for one in claims if one.name in fitted]
    universal = [one for one in claims if one.said.every]
    searched_once = [one for one in claims if one.said.one_search]
    costs = [one for one in claims if one.said.cost]
    lists = {
        "One case against the statement is enough to refute": universal,
        f"{FITTED} These verdicts depend on settings fitted to published results": rests,
        "Hyperparameters from one search for all seeds": searched_once,
        "Measured times or memory, which differ from run to run": costs,
    }
    lines += [f"{words}: {' '.join(map(_quoted, some))}" for words, some in lists.items() if some]
    lines += synthetic_line(table.numbers, ", and not used for claims")
    of_models = table.numbers[table.numbers["model"] != ""]
    if len(of_models):
        lines.append(digests_line(of_models))
    return lines


def _quoted(one: Claim) -> str:
    return f"“{one.said.statement}”"
