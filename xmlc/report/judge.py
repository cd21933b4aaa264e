"""Judging of printed numbers: kind, interval of the printed number, and numbers to tell it from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from xmlc.data.catalogue import load_catalogue
from xmlc.papers.tables.columns import DEVIATION, column
from xmlc.papers.tables.table import Published, TableDefinition
from xmlc.report.runs import Place, Runs, Spread, half_width
from xmlc.report.verdict import (
    Judgement,
    Kind,
    Verdict,
    judge_constant,
    judge_measured,
    kind_of,
    number,
    unit_of_last_digit,
)
from xmlc.suites import paths
from xmlc.suites.suite import read_suite

NO_RUNS = "no runs with several seeds: `xmlc deviations` keeps them"
NO_SPLIT_ERROR = "the paper's split is not known to be ours, and no error of another was measured"


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


@dataclass(frozen=True)
class Judge:
    """Basis of judging: our runs, printed runs, splits, calibrations."""

    #: Ours, from which the deviations are taken.
    runs: Runs = field(default_factory=Runs)
    #: By paper, the runs that its numbers are means of; 1 where it is not said.
    printed_runs: Mapping[str, int] = field(default_factory=dict)
    #: Paper and dataset, where the paper's split is known to be ours.
    same_split: frozenset[tuple[str, str]] = frozenset()
    #: By paper and model, which settings were chosen because the printed test results come
    #: out with them.
    calibrated: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of_project(cls, config: Path, runs: Path | None = None) -> Judge:
        """Read the project's runs, the papers' configuration and the catalogue of datasets.

        Raises
        ------
        XmlcError
            A file breaks its schema.
        """
        file, catalogue = runs or config / Path(paths.RUNS).name, config / Path(paths.CATALOGUE).name
        suites = {file.stem: read_suite(file) for file in sorted((config / "papers").glob("*.yaml"))}
        entries = load_catalogue(catalogue) if catalogue.is_file() else {}
        same = {
            (paper, name) for name, entry in entries.items() for paper, split in entry.splits.items() if split["same"]
        }
        return cls(
            Runs.read(file) if file.is_file() else Runs(),
            {paper: suite.printed_runs for paper, suite in suites.items()},
            frozenset(same),
            {
                (paper, name): model.calibration
                for paper, suite in suites.items()
                for name, model in suite.all_models.items()
                if model.calibration
            },
        )

    def judge(
        self, definition: TableDefinition | None, place: Place, printed: Published, found: OurNumber
    ) -> Judgement | None:
        """Judge one number beside the printed one.

        Parameters
        ----------
        definition : TableDefinition or None
            The table; None where nothing is known of it.
        place : Place
            Where the number stands.
        printed : Published
            What the paper prints of the table.
        found : OurNumber

        Returns
        -------
        Judgement or None
            None where there is nothing to judge: the paper prints no number here, or a cost, or a deviation.
        """
        text = printed.value(place.row, place.column) or ""
        expected = number(text)
        named = dict(zip(printed.keys, place.row))
        kind = kind_of(place.column, definition, named.get("model"))
        unjudged = kind is Kind.COST or place.column.endswith(DEVIATION)
        if expected is None or not math.isfinite(expected) or unjudged:
            return None
        if found.failed:
            return Judgement(Verdict.FAILED)
        if found.value is None or math.isnan(found.value):
            return Judgement(Verdict.NOT_RUN)
        difference, unit = found.value - expected, unit_of_last_digit(text)
        if kind in (Kind.DATASET, Kind.CONFIGURATION):
            return judge_constant(difference, unit)
        judgement = self._measured(definition, place, printed, found, difference)
        return replace(judgement, calibrated=self.calibrated.get((place.paper, named.get("model", "")), ""))

    def _measured(
        self, definition: TableDefinition | None, place: Place, printed: Published, found: OurNumber, difference: float
    ) -> Judgement:
        """Judge a number that was measured, by the paper and by us."""
        unit = unit_of_last_digit(printed.value(place.row, place.column) or "")
        spread = self._spread(place, found)
        if spread is None:
            return Judgement(Verdict.NO_RUNS, difference, reason=NO_RUNS)
        dataset = dict(zip(printed.keys, place.row)).get("dataset", "")
        other = (place.paper, dataset) not in self.same_split
        if other and spread.split_error is None:
            return Judgement(Verdict.NO_RUNS, difference, reason=NO_SPLIT_ERROR)
        theirs = self.printed_runs.get(place.paper, 1)
        interval = half_width(spread, unit, found.seeds, theirs, other)
        contrast = contrast_of(definition, place, printed)
        verdict = judge_measured(difference, interval, contrast, column(place.column).better)
        return Judgement(verdict, difference, interval, _reason(spread, found.seeds, theirs, other, contrast))

    def _spread(self, place: Place, found: OurNumber) -> Spread | None:
        """Return the spread of the runs at hand, where there are several, else of those on file."""
        filed = self.runs.spread(place)
        if found.seeds > 1 and found.deviation is not None and not math.isnan(found.deviation):
            return Spread(found.seeds, found.deviation, filed.split_error if filed else None)
        return filed


def contrast_of(definition: TableDefinition | None, place: Place, printed: Published) -> float | None:
    """Return the smallest difference to a printed number that the paper compares this one with.

    Those are the numbers of the rows that differ in one of the table's contrasts only, such as the model, and not by
    nothing.
    """
    own = number(printed.value(place.row, place.column) or "")
    if definition is None or own is None:
        return None
    differences = []
    for row in printed.rows():
        apart = [key for key, mine, other in zip(printed.keys, place.row, row) if mine != other]
        if len(apart) == 1 and apart[0] in definition.contrasts:
            other = number(printed.value(row, place.column) or "")
            if other is not None and math.isfinite(other) and other != own:
                differences.append(abs(other - own))
    return min(differences, default=None)


def _reason(spread: Spread, ours: int, theirs: int, other: bool, contrast: float | None) -> str:
    """Explain an interval by its parts."""
    words = [f"deviation {spread.deviation:.2g} of {spread.runs} runs, {ours} beside {theirs}"]
    if other:
        words.append(f"deviation {spread.split_error:.2g} over splits, as the paper's is not known")
    words += [f"the nearest number that the paper compares it with is {contrast:.3g} away"] if contrast else []
    return "; ".join(words)
