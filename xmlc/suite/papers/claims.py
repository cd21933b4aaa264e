"""Statements of papers, their tests, and the table of a paper's claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import pandas as pd

from xmlc.data.synthetic import is_synthetic
from xmlc.suite.config.planned import Where
from xmlc.suite.config.suite import Suite
from xmlc.suite.papers.effects import about
from xmlc.suite.papers.notes import digests_line, synthetic_line
from xmlc.suite.papers.outcome import (
    AGAINST,
    FOR,
    OPEN,
    OPPOSITE,
    Effect,
    Outcome,
    Scale,
    outcome_of,
    same_instances,
)
from xmlc.suite.papers.tables import Cell, Panel, Table, TableSpec, title_of_key
from xmlc.suite.results.columns import COST, MISSING, column
from xmlc.suite.results.intervals import Estimate
from xmlc.suite.results.numbers import SEEDS

CLAIMS = "claims"  # Each paper's table of claims.
# Columns that depend on the records
DECIDED = ("effect", "lower", "upper", "supports", "contradicts", "opposites", "lost", "verdict")
COST_DECIDED = tuple(COST + name for name in DECIDED)
# Decimals of effects in the CSV file, because logarithms and exponentials of two libraries may
# differ in the last bit
DIGITS = 9
LARGE_RATIO = 100  # From here on, ratios are printed without decimals
SIDES = {FOR: "for", OPEN: "open", AGAINST: "against", OPPOSITE: "opposite sign"}
FITTED = "‡"  # Marks verdicts that depend on settings fitted to published test results
RULES = (
    "A case is a dataset and a subject. The effect of a case is the mean over paired runs with a "
    "95 % interval.",
    "A case is for the statement if its interval lies above the margin (default: no difference). "
    "A case is against the statement if its interval lies below the margin.",
    "If at least half of the cases are neither for nor against, "
    "the mean over three or more datasets decides, "
    "unless a case contradicts this mean.",
    "Published: the paper's mean effect. "
    "Opposite sign: "
    "a case for the statement whose effect has the opposite sign of the published effect.",
    "Cases changed by bootstrap error: cases whose side changes if intervals include this error.",
    "Stated: verbatim (in the paper's terms), derived (follows from the paper) or xmlc (added "
    "here).",
)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of a paper, and the functions that test it: an entry of ``claims.yaml``."""

    name: str = ""
    #: In our words, so that it can be understood without the paper.
    statement: str
    #: Section, page or table of the paper.
    source: str
    #: Unit of the effects, and the two numbers that are subtracted or divided.
    unit: str
    #: "verbatim" in the paper's terms, "derived" from its statements or numbers, or our own
    #: ("xmlc").
    stated: Literal["verbatim", "derived", "xmlc"]
    #: Records, which may be missing.
    needs: tuple[Where, ...]
    #: A function in ``claims.py`` that returns effects from the numbers of these records: one by
    #: one, or as a frame of runs (`xmlc.suite.papers.effects.scores`) or cases (`about`).
    measured_by: Any
    options: dict[str, Any] = field(default_factory=dict)
    #: The numbers that the claim is about: in words, their datasets, and a function that selects
    #: them.
    about: str = ""
    datasets: list[str] = field(default_factory=list)
    chosen_by: Any = None
    scale: Scale = "difference"
    #: Effects above it support the statement. By default it means no difference, 0 or 1 for a
    #: ratio, and any other value has a reason.
    margin: float | None = None
    because: str = ""
    #: Published effects by subject and dataset, if models are said to be equally good
    #: (`outcome_of`).
    printed: dict[str, dict[str, float]] = field(default_factory=dict)
    #: Whether one case against the statement refutes it, as for a lemma.
    every: bool = False
    #: Whether all seeds use hyperparameters from the same search.
    one_search: bool = False
    #: Whether effects are times or memory, which differ from run to run.
    cost: bool = False
    #: Set if published values of this quantity helped to choose settings (``fitted`` in
    #: `selected`).
    quantity: str = ""

    @property
    def level(self) -> float:
        """The margin, or its default."""
        if self.margin is None:
            return float(self.scale == "ratio")
        return self.margin

    def shown(self, effect: Estimate) -> str:
        """Format an effect and its interval, such as ``+1.25 [0.50, 2.00]``, or a dash."""
        if math.isnan(effect.mean):
            return MISSING
        texts = []
        for value in (effect.mean, effect.lower, effect.upper):
            if self.scale != "ratio":
                texts.append(f"{value:+.2f}")
            elif value < LARGE_RATIO:
                texts.append(f"{value:.2f}")
            else:
                texts.append(f"{value:.0f}")
        if effect.has_interval:
            return f"{texts[0]} [{texts[1]}, {texts[2]}]"
        return texts[0]

    @property
    def quoted(self) -> str:
        """The statement in quotes."""
        return f"“{self.statement}”"

    def effects(self, numbers: pd.DataFrame) -> list[Effect]:
        """Return the effects, without resampled values if a record of a dataset lacks them."""
        if self.datasets:
            numbers = numbers[numbers["dataset"].map(same_instances).isin(self.datasets)]
        if self.chosen_by:
            numbers = numbers[self.chosen_by(numbers).to_numpy(dtype=bool)]
        measured = self.measured_by(numbers, **self.options)
        if not isinstance(measured, pd.DataFrame | pd.Series):
            return list(measured)
        if "subject" not in measured.index.names:
            measured = about(measured)
        measured = measured.dropna(subset=[0])
        # Minima, maxima and comparisons lose the NaN of records of earlier versions.
        resampled = numbers.dropna(subset=["value", "resampled"])
        is_unknown = [math.isnan(values[0]) for values in resampled["resampled"]]
        unknown = {*resampled.loc[is_unknown, "dataset"]}
        # Arithmetic on frames may sort rows, but cases have the order of the datasets.
        places = {name: place for place, name in enumerate(numbers["dataset"].unique())}
        effects = []
        for case, (value, *drawn) in zip(
            measured.index, measured.to_numpy(dtype=float).tolist(), strict=True
        ):
            dataset, subject, seed = case
            if (
                self.cost
                or self.scale == "ratio"
                or dataset in unknown
                or (unknown and dataset not in places)
            ):
                drawn = []
            # -0.0 would be printed as -0.00.
            effects.append(Effect(dataset, subject, int(seed), value + 0.0, resampled=drawn))
        return sorted(effects, key=lambda effect: places.get(effect.dataset, 0))

    def outcome(self, numbers: pd.DataFrame) -> Outcome:
        """Return the verdict on the claim."""
        return outcome_of(self.effects(numbers), self.level, self.scale, self.every, self.printed)


@dataclass(frozen=True, kw_only=True)
class ClaimsTable(TableSpec):
    """The specification of a table of claims, one a row."""

    claims: Sequence[Claim]

    def build(
        self, paper: str, numbers: pd.DataFrame, published: pd.DataFrame, suite: Suite | None = None
    ) -> Table:
        """Test the claims."""
        table = Table(self, paper, numbers, published, suite)
        # Claims of papers are not about synthetic data.
        numbers = numbers[~numbers["dataset"].map(is_synthetic).astype(bool)]
        models = {}
        if suite:
            models = suite.all_models
        fitted = [name for name, model in models.items() if model.fitted_settings]
        chosen = set()
        for model in models.values():
            for dataset, origin in model.selected.items():
                chosen |= {(dataset, quantity) for quantity in origin.fitted}
        values = []
        rows = []
        cells = []
        dependent = []
        details = []
        for claim in self.claims:
            own = numbers[numbers["need"].isin([self.needs.index(need) for need in claim.needs])]
            outcome = claim.outcome(own)
            rest = outcome
            if own["model"].isin(fitted).any():
                rest = claim.outcome(own[~own["model"].isin(fitted)])
            is_dependent = any((case.dataset, claim.quantity) in chosen for case in outcome.cases)
            mark = ""
            if is_dependent or repr(rest) != repr(outcome):
                mark = f" {FITTED}"
                dependent.append(claim)
            numbers_of_claim, texts = _row(claim, outcome, mark)
            values.append(numbers_of_claim)
            rows.append((claim.statement, claim.source, claim.unit))
            cells.append([Cell((claim.name,), name, text) for name, text in texts.items()])
            if outcome.cases:
                details.append(_panel_of_cases(claim, outcome))
        table.content = pd.DataFrame(values, columns=[*self.keys, *self.columns], dtype=object)
        means = table.content.melt(self.keys, var_name="quantity")
        table.means = means.assign(deviation=math.nan, seeds=math.nan, published="", is_run=True)
        names = [column(name).title for name in ("statement", "source", "unit")]
        table.panels = [Panel("", names, _headings(cells), rows, cells), *details]
        table.notes = self._notes(table, dependent)
        return table

    def _notes(self, table: Table, dependent: Sequence[Claim]) -> list[str]:
        claims = self.claims
        lines = [*RULES]
        lines += [f"{claim.quoted}: about {claim.about}." for claim in claims if claim.about]
        lines += [
            f"{claim.quoted}: margin {claim.level:g}, {claim.because}."
            for claim in claims
            if claim.because
        ]
        lists = {
            "One case against the statement is enough to refute": [
                claim for claim in claims if claim.every
            ],
            f"{FITTED} These verdicts depend on settings fitted to published results": dependent,
            "Hyperparameters from one search for all seeds": [
                claim for claim in claims if claim.one_search
            ],
            "Measured times or memory, which differ from run to run": [
                claim for claim in claims if claim.cost
            ],
        }
        for words, some in lists.items():
            if some:
                lines.append(f"{words}: {' '.join(claim.quoted for claim in some)}")
        lines += synthetic_line(table.numbers, ", and not used for claims")
        of_models = table.numbers[table.numbers["model"] != ""]
        if len(of_models):
            lines.append(digests_line(of_models))
        return lines


def claims_table(claims: Sequence[Claim]) -> ClaimsTable:
    """Declare a table of claims, whose ``needs`` must differ in the kind or the training split."""
    return ClaimsTable(
        name=CLAIMS,
        needs=tuple(dict.fromkeys(chain(*(claim.needs for claim in claims)))),
        keys=("claim",),
        columns=("stated", "printed", *DECIDED, *COST_DECIDED, "cases", SEEDS),
        caption="Statements of the paper, tested on this run. "
        "A statement holds if more than half of its cases are for it.",
        partial=True,
        takes_suite=True,
        claims=claims,
    )


def counted(table: Table) -> dict[str, str]:
    """Return the verdicts on verbatim statements that are not about costs."""
    assert isinstance(table.spec, ClaimsTable)
    words = table.content.set_index("claim")["verdict"]
    claims = [claim for claim in table.spec.claims if claim.stated == "verbatim" and not claim.cost]
    return {claim.statement: words[claim.name] for claim in claims}


def _row(claim: Claim, outcome: Outcome, mark: str) -> tuple[dict[str, Any], dict[str, str]]:
    published: list[float] = []
    for of_subject in claim.printed.values():
        published += of_subject.values()
    in_print = math.nan
    if published:
        in_print = math.fsum(published) / len(published)
    lost = None
    lost_text = ""
    if outcome.tested:
        lost = [case.lost for case in outcome.cases].count(True)
        lost_text = f"{lost} of {outcome.tested}"
    effect = outcome.effect
    decided = [round(value, DIGITS) for value in (effect.mean, effect.lower, effect.upper)]
    values: dict[str, Any] = {
        "claim": claim.name,
        "stated": claim.stated,
        "printed": round(in_print, DIGITS),
        "cases": len(outcome.cases),
        SEEDS: min((case.seeds for case in outcome.cases), default=0),
    }
    # Costs have separate columns, because their effects and verdicts differ from run to run.
    names: tuple[str, ...] = DECIDED
    if claim.cost:
        names = COST_DECIDED
    values |= zip(names, (*decided, *outcome.sides, lost, outcome.word), strict=True)
    texts = {
        "stated": claim.stated,
        "effect": claim.shown(effect),
        "printed": claim.shown(Estimate(in_print)),
        "lost": lost_text,
        "verdict": outcome.verdict + mark,
    }
    return values, texts


def _panel_of_cases(claim: Claim, outcome: Outcome) -> Panel:
    names = ["dataset"]
    if any(case.subject for case in outcome.cases):
        names.append("subject")
    rows = []
    cells = []
    for case in outcome.cases:
        texts = {
            "unit_effect": claim.shown(case.effect),
            "printed": claim.shown(Estimate(case.printed)),
            "on_tests": claim.shown(case.on_tests),
            SEEDS: str(case.seeds),
            "side": SIDES[case.side],
        }
        if not outcome.tested:
            del texts["on_tests"]
        elif not case.on_tests.has_interval:
            texts["on_tests"] = ""
        if not case.effect.has_interval:
            texts["side"] = "one seed"
        rows.append(tuple(title_of_key(name, getattr(case, name)) for name in names))
        key = (claim.name, case.dataset, case.subject)
        cells.append([Cell(key, name, text) for name, text in texts.items()])
    title = f"{claim.statement} ({claim.unit})"
    return Panel(
        title, [column(name).title for name in names], _headings(cells), rows, cells, details=True
    )


def _headings(cells: list[list[Cell]]) -> list[str]:
    return [column(cell.quantity).heading for cell in cells[0]]
