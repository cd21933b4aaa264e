"""The judge of published numbers: their kind, and the interval of those that were measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from xmlc.suite.config.catalogue import load_catalogue
from xmlc.suite.config.suite import read_suite
from xmlc.suite.papers.declared import TableDefinition
from xmlc.suite.report.runs import Place, read_runs, spreads_of
from xmlc.suite.report.verdicts import (
    Kind,
    Spread,
    Verdict,
    as_float,
    difference,
    half_width,
    judge_constant,
    judge_measured,
    kind_of,
    seeds_of,
    spread_of,
    unit_of_last_digit,
)
from xmlc.suite.results.columns import DEVIATION
from xmlc.suite.results.frame import Number, Row, Rows

NO_RUNS = "no runs with several seeds: `xmlc deviations` keeps them"
NO_SPLIT_ERROR = "the paper's split is not known to be ours, and no error of another was measured"
NO_CHANCE = "its runs vary by no more than the rounding of the printed number"


@dataclass(frozen=True)
class Judge:
    """Basis of judging: our runs, published runs, splits, settings fitted to published results."""

    #: How much our runs with several seeds vary.
    spreads: Mapping[Place, Spread] = field(default_factory=dict)
    #: By paper, the runs that its numbers are means of; 1 if it is not known.
    printed_runs: Mapping[str, int] = field(default_factory=dict)
    #: Paper and dataset, if the paper's split is known to be ours.
    same_split: frozenset[tuple[str, str]] = frozenset()
    #: By paper and dataset, the other split of the same instances on which the paper's measured numbers are counted.
    counted_on: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: By paper and model, the settings that were chosen because the published test results come out with them.
    calibrated: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of_project(cls, config: Path) -> Judge:
        """Read the project's runs, the papers' configuration and the catalogue of datasets.

        Raises
        ------
        XmlcError
            A file breaks its schema.
        """
        catalogue = config / "datasets.yaml"
        suites = {file.stem: read_suite(file) for file in sorted((config / "papers").glob("*.yaml"))}
        entries = load_catalogue(catalogue) if catalogue.is_file() else {}
        splits = {(paper, name): split for name, entry in entries.items() for paper, split in entry.splits.items()}
        return cls(
            spreads_of(read_runs(config / "runs.csv")),
            {paper: suite.printed_runs for paper, suite in suites.items()},
            frozenset(place for place, split in splits.items() if split["same"]),
            {place: split["counted_on"] for place, split in splits.items() if "counted_on" in split},
            {
                (paper, name): model.calibration
                for paper, suite in suites.items()
                for name, model in suite.all_models.items()
                if model.calibration
            },
        )

    def kind(self, paper: str, definition: TableDefinition, number: Number) -> Kind:
        """Return the kind of a published number; measured ones count on one split of the same instances."""
        kind = kind_of(number.quantity, definition, number.model)
        elsewhere = kind is Kind.MEASURED and (paper, number.dataset) in self.counted_on
        return Kind.OTHER_SPLIT if elsewhere else kind

    def judge(self, paper: str, table: str, number: Number, row: Row) -> Number:
        """Judge one number next to the published one.

        Parameters
        ----------
        paper, table : str
        number : Number
            Ours, with its kind, the published number, and the reason if it failed.
        row : dict
            Ours, with the number of seeds and deviations.

        Returns
        -------
        Number
            With verdict, interval and reason. The verdict is None if there is nothing to judge: a cost, a deviation, or
            no published number.
        """
        kind = number.kind
        expected, value = as_float(number.published), as_float(number.value)
        if kind is Kind.COST or number.quantity.endswith(DEVIATION) or expected is None or not math.isfinite(expected):
            return number
        if value is None or math.isnan(value):
            return replace(number, verdict=Verdict.FAILED if number.reason else Verdict.NOT_RUN)
        unit = unit_of_last_digit(number.published)
        if kind in (Kind.DATASET, Kind.CONFIGURATION):
            return replace(number, verdict=judge_constant(value - expected, unit), interval=unit / 2)
        interval, fixed, reason = self._interval(paper, table, number, row, unit)
        if kind is Kind.OTHER_SPLIT:
            reason += f"; the printed number is counted on {self.counted_on[paper, number.dataset]}"
        return replace(
            number,
            verdict=judge_measured(difference(number), interval, expected, unit, fixed),
            interval=interval,
            reason=reason,
            calibrated=self.calibrated.get((paper, number.model), ""),
        )

    def _interval(self, paper: str, table: str, number: Number, row: Row, unit: float) -> tuple[float, bool, str]:
        """Return half the width of an interval, whether nothing varies, and the parts of it; or NaN with the reason."""
        filed = self.spreads.get((paper, table, number.key, number.quantity))
        at_hand = spread_of(row, number.quantity)
        spread = at_hand._replace(split_error=filed.split_error if filed else None) if at_hand else filed
        other = (paper, number.dataset) not in self.same_split
        if spread is None:
            return math.nan, False, NO_RUNS
        if other and spread.split_error is None:
            return math.nan, False, NO_SPLIT_ERROR
        ours = seeds_of(row)
        interval, fixed = half_width(spread, unit, ours, self.printed_runs.get(paper, 1), other)
        parts = f"deviation {spread.deviation:.2g} of {spread.runs} runs, "
        parts += f"{ours} beside {self.printed_runs.get(paper, 1)}"
        if other:
            parts += f"; deviation {spread.split_error:.2g} over splits, as the paper's is not known"
        return interval, fixed, NO_CHANCE if fixed else parts


def repeats(number: Number, published: Rows) -> bool:
    """Say whether a paper publishes the same number elsewhere.

    nDCG@1 is P@1. Table 4 of plt2016 repeats Table 2's FTA and STO. FastXML's inner products do not depend on the
    threshold method, so they are one number for all methods: it counts in the first row that has it.
    """
    if number.quantity == "ndcg@1":
        own = published.get(number.key, {}).get("p@1")
        return own is not None and as_float(own.value) is not None
    if number.quantity == "inner_products":
        earlier = takewhile(lambda key: key != number.key, published)
        rows = (published[key] for key in earlier if key[:2] == number.key[:2])
        return any(number.quantity in row and row[number.quantity].value == number.published for row in rows)
    return number.quantity in ("fta", "sto")
