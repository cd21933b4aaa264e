"""Judging of printed numbers: their kind, and the interval of those that were measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from xmlc.suite.config.catalogue import load_catalogue
from xmlc.suite.config.suite import read_suite
from xmlc.suite.papers.declared import TableDefinition
from xmlc.suite.report.runs import HalfWidth, Place, Runs, Spread, half_width
from xmlc.suite.report.verdict import (
    Judgement,
    Kind,
    Verdict,
    judge_constant,
    judge_measured,
    kind_of,
    number,
    unit_of_last_digit,
)
from xmlc.suite.results.columns import DEVIATION
from xmlc.suite.results.frame import SEEDS, TextRows, published_of

NO_RUNS = "no runs with several seeds: `xmlc deviations` keeps them"
NO_SPLIT_ERROR = "the paper's split is not known to be ours, and no error of another was measured"
NO_CHANCE = "its runs vary by no more than the rounding of the printed number"


@dataclass(frozen=True)
class OurNumber:
    """A number of ours."""

    #: In the unit of its column; None where the experiment was not run or failed.
    value: float | None
    #: Runs that it is the mean of.
    seeds: int = 1
    #: Of these runs, where there are several.
    deviation: float | None = None
    #: The experiment was run and ended without this number.
    failed: bool = False

    @classmethod
    def of(cls, row: Mapping[str, str], quantity: str, failed: bool = False) -> OurNumber:
        """Read a number, its deviation and its number of seeds from a row of one of our tables, given as text."""
        value, deviation, seeds = (number(row.get(name, "")) for name in (quantity, quantity + DEVIATION, SEEDS))
        return cls(value, int(seeds or 1), deviation, failed)


@dataclass(frozen=True)
class Judge:
    """Basis of judging: our runs, printed runs, splits, calibrations."""

    #: Ours, from which the deviations are taken.
    runs: Runs = field(default_factory=Runs)
    #: By paper, the runs that its numbers are means of; 1 where it is not said.
    printed_runs: Mapping[str, int] = field(default_factory=dict)
    #: Paper and dataset, where the paper's split is known to be ours.
    same_split: frozenset[tuple[str, str]] = frozenset()
    #: By paper and dataset, on which other split of the same instances what the paper measured is counted.
    counted_on: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: By paper and model, which settings were chosen because the printed test results come
    #: out with them.
    calibrated: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of_project(cls, config: Path) -> Judge:
        """Read the project's runs, the papers' configuration and the catalogue of datasets.

        Raises
        ------
        XmlcError
            A file breaks its schema.
        """
        file, catalogue = config / "runs.csv", config / "datasets.yaml"
        suites = {file.stem: read_suite(file) for file in sorted((config / "papers").glob("*.yaml"))}
        entries = load_catalogue(catalogue) if catalogue.is_file() else {}
        splits = {(paper, name): split for name, entry in entries.items() for paper, split in entry.splits.items()}
        return cls(
            Runs.read(file) if file.is_file() else Runs(),
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

    def kind(self, definition: TableDefinition, place: Place) -> Kind:
        """Return the kind of a printed cell; what the paper measured counts on one split of the same instances."""
        named = dict(zip(definition.keys, place.row))
        kind = kind_of(place.column, definition, named.get("model"))
        elsewhere = kind is Kind.MEASURED and (place.paper, named.get("dataset", "")) in self.counted_on
        return Kind.OTHER_SPLIT if elsewhere else kind

    def judge(self, definition: TableDefinition, place: Place, printed: TextRows, found: OurNumber) -> Judgement | None:
        """Judge one number beside the printed one.

        Parameters
        ----------
        definition : TableDefinition
            The table.
        place : Place
            Where the number stands.
        printed : dict
            What the paper prints of the table.
        found : OurNumber

        Returns
        -------
        Judgement or None
            None where there is nothing to judge: the paper prints no number here, or a cost, a deviation, or a number
            that it prints elsewhere.
        """
        text = published_of(printed, definition.keys, place.row, place.column) or ""
        expected = number(text)
        named = dict(zip(definition.keys, place.row))
        kind = self.kind(definition, place)
        unjudged = kind is Kind.COST or place.column.endswith(DEVIATION) or repeats(place, printed)
        if expected is None or not math.isfinite(expected) or unjudged:
            return None
        if found.failed:
            return Judgement(Verdict.FAILED)
        if found.value is None or math.isnan(found.value):
            return Judgement(Verdict.NOT_RUN)
        difference, unit = found.value - expected, unit_of_last_digit(text)
        if kind in (Kind.DATASET, Kind.CONFIGURATION):
            return judge_constant(difference, unit)
        interval, reason = self._interval(place, found, named.get("dataset", ""), unit)
        if kind is Kind.OTHER_SPLIT:
            reason += f"; the printed number is counted on {self.counted_on[place.paper, named['dataset']]}"
        calibrated = self.calibrated.get((place.paper, named.get("model", "")), "")
        verdict = judge_measured(difference, interval.value, expected, unit, interval.fixed)
        return Judgement(verdict, difference, interval.value, reason, calibrated)

    def _interval(self, place: Place, found: OurNumber, dataset: str, unit: float) -> tuple[HalfWidth, str]:
        """Return half the width of a cell's interval with its parts, or NaN with the reason."""
        spread, ours, theirs = self._spread(place, found), found.seeds, self.printed_runs.get(place.paper, 1)
        other = (place.paper, dataset) not in self.same_split
        if spread is None:
            return HalfWidth(math.nan, fixed=False), NO_RUNS
        if other and spread.split_error is None:
            return HalfWidth(math.nan, fixed=False), NO_SPLIT_ERROR
        interval = half_width(spread, unit, ours, theirs, other)
        parts = f"deviation {spread.deviation:.2g} of {spread.runs} runs, {ours} beside {theirs}"
        if other:
            parts += f"; deviation {spread.split_error:.2g} over splits, as the paper's is not known"
        return interval, NO_CHANCE if interval.fixed else parts

    def _spread(self, place: Place, found: OurNumber) -> Spread | None:
        """Return the spread of the runs at hand, where there are several, else of those on file."""
        filed = self.runs.spread(place)
        if found.seeds > 1 and found.deviation is not None and not math.isnan(found.deviation):
            return Spread(found.seeds, found.deviation, filed.split_error if filed else None)
        return filed


def repeats(place: Place, printed: TextRows) -> bool:
    """Say whether a paper prints the same number elsewhere.

    nDCG@1 is P@1, Table 4 of plt2016 has Table 2's FTA and STO, and FastXML's inner products, which do not depend on
    the threshold method, are one number for all methods: it counts in the first row that has it.
    """
    own = printed.get(place.row, {})
    if place.column == "ndcg@1":
        return number(own.get("p@1", "")) is not None
    if place.column == "inner_products":
        earlier = (printed[row] for row in takewhile(lambda row: row != place.row, printed) if row[:2] == place.row[:2])
        return any(row.get(place.column) == own.get(place.column) for row in earlier)
    return place.column in ("fta", "sto")
