"""Build the table of a paper's claims, with a panel of the cases that decide each claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from xmlc.data.synthetic import is_synthetic
from xmlc.suite.config.suite import Suite
from xmlc.suite.papers.claims import Claim
from xmlc.suite.papers.notes import digests_line, synthetic_line
from xmlc.suite.papers.outcome import AGAINST, FOR, OPEN, OPPOSITE, Outcome
from xmlc.suite.papers.tables import Cell, Panel, Table, TableSpec, title_of_key
from xmlc.suite.results.columns import COST, column
from xmlc.suite.results.intervals import Estimate
from xmlc.suite.results.numbers import SEEDS, pivot

CLAIMS = "claims"  # The name of each paper's table of claims.
SHOWN = ("stated", "effect", "printed", "lost", "verdict")
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


@dataclass(frozen=True, kw_only=True)
class ClaimsTable(TableSpec):
    """Specification of the table of a paper's claims, with one row for each claim."""

    claims: Sequence[Claim]

    def build(self, paper: str, numbers: pd.DataFrame, published: pd.DataFrame, suite: Suite | None = None) -> Table:
        """Test the claims."""
        table = Table(self, paper, numbers, published, suite)
        # The claims of papers are not about synthetic data.
        numbers = numbers[~numbers["dataset"].map(is_synthetic).astype(bool)]
        models = {}
        if suite:
            models = suite.all_models
        fitted = [name for name, model in models.items() if model.fitted_settings]
        chosen = set()
        for model in models.values():
            for dataset, origin in model.selected.items():
                chosen |= {(dataset, quantity) for quantity in origin.fitted}
        cells: list[dict[str, Any]] = []
        lines = []
        dependent = []
        panels = []
        for claim in self.claims:
            own = numbers[numbers["need"].isin([self.needs.index(need) for need in claim.needs])]
            outcome = claim.outcome(own)
            depends = any((case.dataset, claim.said.quantity) in chosen for case in outcome.cases)
            if own["model"].isin(fitted).any():
                rest = claim.outcome(own[~own["model"].isin(fitted)])
                depends = depends or repr(rest) != repr(outcome)
            if depends:
                dependent.append(claim)
            cells += _row(claim, outcome)
            lines.append(_printed_row(claim, outcome, FITTED if depends else ""))
            if outcome.cases:
                panels.append(_cases(claim, outcome))
        means = pd.DataFrame(cells, columns=["claim", "quantity", "value"], dtype=object)
        table.means = means.assign(deviation=math.nan, seeds=math.nan, published="", is_run=True)
        table.content = pivot(table.means, self.keys, self.quantities)
        names = ("statement", "source", "unit")
        headings = [column(name).heading for name in SHOWN]
        rows = [tuple(str(getattr(claim.said, name)) for name in names) for claim in self.claims]
        table.panels = [Panel("", [column(name).title for name in names], headings, rows, lines), *panels]
        table.notes = self._notes(table, dependent)
        return table

    def _notes(self, table: Table, dependent: Sequence[Claim]) -> list[str]:
        claims = self.claims
        lines = [*RULES]
        lines += [f"{_quoted(claim)}: about {claim.said.about}." for claim in claims if claim.said.about]
        for claim in claims:
            if claim.said.margin is not None:
                lines.append(f"{_quoted(claim)}: margin {claim.said.margin:g}, {claim.said.because}.")
        lists = {
            "One case against the statement is enough to refute": [claim for claim in claims if claim.said.every],
            f"{FITTED} These verdicts depend on settings fitted to published results": dependent,
            "Hyperparameters from one search for all seeds": [claim for claim in claims if claim.said.one_search],
            "Measured times or memory, which differ from run to run": [claim for claim in claims if claim.said.cost],
        }
        lines += [f"{words}: {' '.join(map(_quoted, some))}" for words, some in lists.items() if some]
        lines += synthetic_line(table.numbers, ", and not used for claims")
        of_models = table.numbers[table.numbers["model"] != ""]
        if len(of_models):
            lines.append(digests_line(of_models))
        return lines


def claims_table(claims: Sequence[Claim]) -> ClaimsTable:
    """Declare the table of a paper's claims.

    Raises
    ------
    ValueError
        Two entries of ``needs`` have the same kind and training split, so a file could belong to
        either entry.
    """
    needs = tuple(dict.fromkeys(need for claim in claims for need in claim.needs))
    if len({(need.kind, need.split) for need in needs}) < len(needs):
        raise ValueError("claims: found two needs of one kind and training split, expected one")
    return ClaimsTable(
        name=CLAIMS,
        needs=needs,
        keys=("claim",),
        columns=("stated", "printed", *ALL_DECIDED, "cases", SEEDS),
        caption=CAPTION,
        partial=True,
        takes_suite=True,
        claims=claims,
    )


def counted(table: Table) -> pd.Series:
    """Return the verdict on each verbatim statement that is not about costs, by statement."""
    verdicts = table.content.dropna(subset="verdict")
    verdicts = verdicts[verdicts["stated"] == "verbatim"].set_index("claim")["verdict"]
    assert isinstance(table.spec, ClaimsTable)
    return verdicts.rename(index={claim.name: claim.said.statement for claim in table.spec.claims})


def _row(claim: Claim, outcome: Outcome) -> list[dict[str, Any]]:
    """Return the cells of a claim's row."""
    effect = outcome.effect
    numbers = [round(value, DIGITS) for value in (effect.mean, effect.lower, effect.upper)]
    values: dict[str, Any] = {"stated": claim.said.stated, "printed": round(claim.mean_in_print, DIGITS)}
    # Claims about times and memory have separate columns, because their effects and verdicts differ
    # from run to run.
    values |= dict.fromkeys(ALL_DECIDED)
    prefix = COST if claim.said.cost else ""
    for name, value in zip(DECIDED, (*numbers, *outcome.sides, outcome.lost, outcome.word), strict=True):
        values[prefix + name] = value
    values["cases"] = len(outcome.cases)
    values[SEEDS] = min((case.seeds for case in outcome.cases), default=0)
    return [{"claim": claim.name, "quantity": name, "value": value} for name, value in values.items()]


def _printed_row(claim: Claim, outcome: Outcome, mark: str) -> list[Cell]:
    """Return the printed cells of a claim's row."""
    texts = {
        "stated": claim.said.stated,
        "effect": claim.scale.printed(outcome.effect),
        "printed": claim.scale.printed(Estimate(claim.mean_in_print)),
        "lost": "" if outcome.lost is None else f"{outcome.lost} of {outcome.tested}",
        "verdict": f"{outcome.verdict} {mark}".rstrip(),
    }
    return [Cell((claim.name,), name, text) for name, text in texts.items()]


def _cases(claim: Claim, outcome: Outcome) -> Panel:
    """Return the panel of a claim's cases."""
    printed = claim.scale.printed
    lines = []
    for case in outcome.cases:
        words = {
            "unit_effect": printed(case.effect),
            "printed": printed(Estimate(case.printed)),
            "on_tests": printed(case.on_tests) if case.on_tests.has_interval else "",
            SEEDS: str(case.seeds),
            "side": SIDES[case.side] if case.effect.has_interval else "one seed",
        }
        if not outcome.tested:
            del words["on_tests"]
        key = (claim.name, case.dataset, case.subject)
        lines.append([Cell(key, name, text) for name, text in words.items()])
    headings = [column(cell.quantity).heading for cell in lines[0]]
    names = ["dataset"]
    if any(case.subject for case in outcome.cases):
        names.append("subject")
    rows = [tuple(title_of_key(name, getattr(case, name)) for name in names) for case in outcome.cases]
    title = f"{claim.said.statement} ({claim.said.unit})"
    return Panel(title, [column(name).title for name in names], headings, rows, lines, details=True)


def _quoted(claim: Claim) -> str:
    return f"“{claim.said.statement}”"
