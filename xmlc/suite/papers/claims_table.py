"""Build the table of a paper's claims. Each claim has a row, and detail rows for the cases that decide the claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from xmlc.data.synthetic import is_synthetic
from xmlc.suite.papers.claims import Claim
from xmlc.suite.papers.declared import Table, TableDefinition, columns
from xmlc.suite.papers.notes import digests_line, synthetic_line
from xmlc.suite.papers.outcome import AGAINST, FOR, OPEN, OPPOSITE, Case, Outcome
from xmlc.suite.papers.resampling import errors_on_tests
from xmlc.suite.results.columns import COST
from xmlc.suite.results.frame import Number, Row, Rows, Source
from xmlc.suite.results.intervals import Estimate
from xmlc.suite.results.records.base import Record
from xmlc.suite.results.verdicts import ClaimVerdict

CLAIMS = "claims"  # The name of each paper's table of claims.
# The values in the columns `DECIDED` depend on the records.
DECIDED = ("effect", "lower", "upper", "supports", "contradicts", "opposites", "lost", "verdict")
ALL_DECIDED = (*DECIDED, *(COST + name for name in DECIDED))
# Effects in the CSV file are rounded to `DIGITS` decimals, because the logarithms and exponentials of two libraries may
# differ in the last bit.
DIGITS = 9
SIDES = {FOR: "for", OPEN: "open", AGAINST: "against", OPPOSITE: "opposite sign"}
FITTED = "‡"  # Printed after verdicts that depend on settings fitted to published test results.
CAPTION = "Statements of the paper, tested on this run. A statement holds if more than half of its cases are for it."
RULES = (
    "A case is a dataset and a subject. The effect of a case is the mean over paired runs with a 95 % interval.",
    "A case is for the statement if its interval lies above the margin (default: no difference). "
    "A case is against the statement if its interval lies below the margin.",
    "If at least half of the cases are neither for nor against, the mean over three or more datasets decides, "
    "unless a case contradicts this mean.",
    "Published: the paper's mean effect. "
    "Opposite sign: a case for the statement whose effect has the opposite sign of the published effect.",
    "Cases changed by bootstrap error: cases whose side changes if intervals include this error.",
    "Stated: verbatim (in the paper's terms), derived (follows from the paper) or xmlc (added here).",
)


def claims_table(claims: Sequence[Claim]) -> TableDefinition:
    """Declare the table of a paper's claims, with one row for each claim.

    Raises
    ------
    ValueError
        Two entries of ``needs`` have the same kind and training split, so a file could belong to either entry.
    """
    needs = tuple(dict.fromkeys(need for one in claims for need in one.needs))
    if len({(need.kind, need.split) for need in needs}) < len(needs):
        raise ValueError("claims: found two needs of the same kind and training split, expected one")

    def rows(table: Table) -> Rows:
        given = dict(zip(needs, (_real(sources) for sources in table.given), strict=True))
        models = table.suite.all_models if table.suite else {}
        fitted = {name for name, model in models.items() if model.fitted_settings}
        origins = [(dataset, origin) for model in models.values() for dataset, origin in model.selected.items()]
        chosen_by = {(dataset, quantity) for dataset, origin in origins for quantity in origin.fitted}
        others = {need: [r for r in given[need] if getattr(r, "model", "") not in fitted] for need in needs}
        errors = errors_on_tests([one for one in claims if not one.said.cost], given)
        found: Rows = {}
        for one in claims:
            records = [given[need] for need in one.needs]
            outcome = one.outcome(*records)
            rest = one.outcome(*(others[need] for need in one.needs)) if fitted else outcome
            mark = "" if repr(rest) == repr(outcome) else FITTED
            if any((case.dataset, one.said.quantity) in chosen_by for case in outcome.cases):
                mark = FITTED
            if one in errors:
                outcome = one.outcome(*records, errors=errors[one])
            found[(one.name,)] = _row(one, outcome, mark)
            for case in outcome.cases:
                table.details[one.name, case.dataset, case.subject] = _detail(one, case, bool(outcome.tested))
        return found

    return TableDefinition(
        name=CLAIMS,
        needs=needs,
        keys=("claim",),
        columns=("stated", "printed", *ALL_DECIDED, "cases"),
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
                details=("claim", "dataset", "subject"),
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


def _real(sources: Iterable[Source]) -> list[Any]:
    """Return the records of real datasets. The claims of papers are not about synthetic data."""
    return [source.record for source in sources if not is_synthetic(source.record.dataset_name)]


def counted_rows(table: Table) -> list[Row]:
    """Return the rows of verbatim statements. Statements about costs are left out."""
    rows = table.rows.values()
    return [row for row in rows if row["stated"].value == "verbatim" and row["verdict"].value]


def counted(table: Table) -> Counter[ClaimVerdict]:
    """Count the rows of `counted_rows` by verdict."""
    return Counter(ClaimVerdict(row["verdict"].value) for row in counted_rows(table))


def claims_line(counts: Counter[ClaimVerdict]) -> str:
    """Return a line with the number of claims that hold, and the number of claims with each other verdict.

    A verdict is left out if no claim has this verdict.
    """
    words = {verdict: str(verdict) for verdict in ClaimVerdict if verdict is not ClaimVerdict.HOLDS}
    if counts[ClaimVerdict.DOES_NOT_HOLD] != 1:
        words[ClaimVerdict.DOES_NOT_HOLD] = "do not hold"
    rest = [f"{counts[verdict]} {text}" for verdict, text in words.items() if counts[verdict]]
    return ", ".join([f"{counts[ClaimVerdict.HOLDS]} of {counts.total()} claims hold", *rest])


def _row(one: Claim, outcome: Outcome, mark: str) -> Row:
    effect, said = outcome.effect, one.said
    numbers = [round(value, DIGITS) for value in (effect.mean, effect.lower, effect.upper)]
    decided = zip(DECIDED, (*numbers, *outcome.sides, outcome.lost, outcome.word), strict=True)
    values: dict[str, object] = {"stated": said.stated, "printed": round(one.mean_in_print, DIGITS)}
    # Claims about times and memory have separate columns, because their effects and verdicts differ from run to run.
    values |= dict.fromkeys(ALL_DECIDED) | {(COST if said.cost else "") + name: value for name, value in decided}
    values |= {"cases": len(outcome.cases), "seeds": min((case.seeds for case in outcome.cases), default=0)}
    values |= {"statement": said.statement, "source": said.source, "unit": said.unit}
    return _with_words(
        (one.name,),
        values,
        stated=one.said.stated,
        effect=one.scale.printed(effect),
        printed=one.scale.printed(Estimate(one.mean_in_print)),
        lost="" if outcome.lost is None else f"{outcome.lost} of {outcome.tested}",
        verdict=f"{outcome.verdict} {mark}".rstrip(),
    )


def _detail(one: Claim, case: Case, tested: bool) -> Row:
    """Return the detail row of one case of a claim."""
    values = {"unit_effect": case.effect.mean, "printed": case.printed, "seeds": case.seeds, "unit": one.said.unit}
    values |= {"statement": one.said.statement}
    values |= {"on_tests": case.on_tests.mean} if tested else {}
    values |= {"side": SIDES[case.side] if case.effect.has_interval else "one seed"}
    return _with_words(
        (one.name,),
        values,
        unit_effect=one.scale.printed(case.effect),
        seeds=str(case.seeds),
        printed=one.scale.printed(Estimate(case.printed)),
        on_tests=one.scale.printed(case.on_tests) if case.on_tests.has_interval else "",
    )


def _with_words(key: tuple[str], values: dict[str, Any], **words: str) -> Row:
    """Return a table row with ``values``. ``words`` maps quantities to texts that are printed instead of the values."""
    return {name: Number(quantity=name, key=key, value=value, words=words.get(name)) for name, value in values.items()}


def _notes(claims: Sequence[Claim], table: Table) -> list[str]:
    lines = [*RULES, *(f"{_quoted(one)}: about {one.about[0]}." for one in claims if one.about)]
    for one in claims:
        if one.said.margin is not None:
            lines.append(f"{_quoted(one)}: margin {one.said.margin:g}, {one.said.because}.")
    rests = [one for one in claims if table.rows[one.name,]["verdict"].text.endswith(FITTED)]
    lists = {
        "One case against the statement is enough to refute": [one for one in claims if one.said.every],
        f"{FITTED} These verdicts depend on settings fitted to published results": rests,
        "Hyperparameters from one search for all seeds": [one for one in claims if one.said.one_search],
        "Measured times or memory, which differ from run to run": [one for one in claims if one.said.cost],
    }
    lines += [f"{words}: {' '.join(map(_quoted, some))}" for words, some in lists.items() if some]
    lines += synthetic_line(table.records, ", and not used for claims")
    records = [record for record in table.records if isinstance(record, Record)]
    return lines + [digests_line(records)] * bool(records)


def _quoted(one: Claim) -> str:
    return f"“{one.said.statement}”"
