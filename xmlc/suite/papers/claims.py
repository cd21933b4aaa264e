"""Declare the statements of papers, and measure their effects on the long table of all numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from xmlc.core.errors import XmlcError
from xmlc.metrics.resampling import REPLICATES
from xmlc.suite.config import planned
from xmlc.suite.config.planned import Where
from xmlc.suite.papers import statements_of
from xmlc.suite.papers.outcome import OTHER_SPLITS, CaseKey, Effect, Outcome, Scale, by_case, outcome_of
from xmlc.suite.results.numbers import ABOUT
from xmlc.suite.schemas import converted, read_yaml

RUN = ["dataset", "model", "seed"]
CASE = ["dataset", "subject", "seed"]  # The levels of a frame of effects.
# Maps numbers to effects, or to a frame of effects: see `scores`, with the levels dataset, subject
# and seed.
EffectFunction = Callable[..., pd.DataFrame | Iterable[Effect]]


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A statement of a paper: an entry of the file ``claims.yaml`` in the paper's folder.

    Raises
    ------
    ValueError
        The margin has no reason, or is redundant because it equals the effect that means "no
        difference".
    """

    #: The statement in our words, so that it can be understood without the paper.
    statement: str
    #: Section, page or table of the paper that makes the statement.
    source: str
    #: The unit of the effects, and the two numbers that are subtracted or divided.
    unit: str
    #: "verbatim" is a statement in the paper's terms. "derived" follows from the paper's statements
    #: or numbers. "xmlc" is our own statement.
    stated: Literal["verbatim", "derived", "xmlc"]
    #: Records on which the claim is tested, which may be missing: names of selections (`Where`) in
    #: the paper's ``claims.py`` or in `xmlc.suite.config.planned`.
    records: list[str] = field(default_factory=list)
    #: The function in ``claims.py`` that measures the effects, by default of the statement's name,
    #: and its options.
    measure: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    #: The numbers that the claim is about, in words, and their datasets, or the function in
    #: ``claims.py`` that chooses them.
    about: str = ""
    datasets: list[str] = field(default_factory=list)
    only: str = ""
    scale: Literal["difference", "distance", "ratio"] = "difference"
    #: Effects above the margin support the statement. By default, ``margin`` is the effect that
    #: means no difference: 0, or 1 for a ratio.
    margin: float | None = None
    #: The reason for the margin.
    because: str = ""
    #: Published effects by subject and dataset, if the statement says that one model is as good as
    #: another (`outcome_of`).
    printed: dict[str, dict[str, float]] = field(default_factory=dict)
    #: Whether a single case against the statement refutes the statement, as for a lemma.
    every: bool = False
    #: Whether all seeds use hyperparameters from the same search.
    one_search: bool = False
    #: Whether effects are times or memory, which differ from run to run.
    cost: bool = False
    #: The quantity that the statement is about, if its published values helped to choose settings
    #: (``fitted`` in `selected`).
    quantity: str = ""

    def __post_init__(self) -> None:
        if self.margin is None:
            return
        if self.margin == Scale(self.scale).nothing or not self.because:
            expected = "expected a margin except 0 (ratios: 1) with a `because`"
            raise ValueError(f"margin: found {self.margin}, {expected}")


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of a paper with the functions that test it."""

    #: Name of the claim's row in the table of claims.
    name: str
    said: Statement = field(hash=False)
    needs: tuple[Where, ...]
    #: Function that returns the effects, given the numbers of the records of ``needs``.
    measure: EffectFunction
    #: Function that returns which numbers the claim is about, or None for all of them.
    only: Callable[[pd.DataFrame], pd.Series] | None = None

    @property
    def scale(self) -> Scale:
        """Return the kind of the effects: differences, distances or ratios."""
        return Scale(self.said.scale)

    @property
    def mean_in_print(self) -> float:
        """Return the mean of the published effects, or NaN if none is published."""
        effects: list[float] = []
        for of_subject in self.said.printed.values():
            effects += of_subject.values()
        if not effects:
            return math.nan
        return math.fsum(effects) / len(effects)

    def effects(self, numbers: pd.DataFrame) -> tuple[list[Effect], dict[CaseKey, float]]:
        """Return the effects, and the bootstrap errors (`errors_on_tests`) of differences.

        Cases are without error if a record of their dataset lacks measures on resampled test sets.
        """
        if self.said.datasets:
            splits = {split for split, name in OTHER_SPLITS.items() if name in self.said.datasets}
            numbers = numbers[numbers["dataset"].isin({*self.said.datasets, *splits})]
        if self.only:
            numbers = numbers[self.only(numbers).to_numpy(dtype=bool)]
        measured = self.measure(numbers, **self.said.options)
        if not isinstance(measured, pd.DataFrame):
            return list(measured), {}
        measured = measured.dropna(subset=[0]).reorder_levels(CASE)
        # Arithmetic on frames may sort rows, but cases have the order of the datasets.
        places = {name: place for place, name in enumerate(numbers["dataset"].unique())}
        of_rows = [places.get(name, 0) for name in measured.index.get_level_values("dataset")]
        measured = measured.iloc[np.argsort(of_rows, kind="stable")]
        effects = []
        drawn = {}
        for key, values in zip(measured.index, measured.to_numpy(), strict=True):
            dataset, subject, seed = key
            value = float(values[0]) + 0.0  # -0.0 would be printed as -0.00.
            effects.append(Effect(dataset, subject, int(seed), value))
            drawn[key] = values[1:]
        if self.said.cost or self.scale.kind == "ratio":
            return effects, {}
        errors = errors_on_tests(drawn, effects)
        resampled = numbers.dropna(subset=["value", "resampled"])
        # Minima, maxima and comparisons do not pass on the NaN of records of earlier versions.
        is_unknown = [math.isnan(values[0]) for values in resampled["resampled"]]
        unknown = {*resampled.loc[is_unknown, "dataset"]}
        if unknown:
            known = {*numbers["dataset"]} - unknown
            errors = {case: error for case, error in errors.items() if case[0] in known}
        return effects, errors

    def outcome(self, numbers: pd.DataFrame) -> Outcome:
        """Return the verdict on the claim."""
        effects, errors = self.effects(numbers)
        margin = self.said.margin
        if margin is None:
            margin = self.scale.nothing
        return outcome_of(effects, margin, self.scale, self.said.every, self.said.printed, errors)


def errors_on_tests(
    drawn: Mapping[tuple[str, str, int], np.ndarray], effects: Iterable[Effect]
) -> dict[CaseKey, float]:
    """Return the standard error of each case's mean over seeds that the test set causes.

    ``drawn`` has the values of each effect on the resampled test sets. A case is left out if it
    does not depend on the test instances, or if a record lacks the measures on resampled test sets.
    """
    errors = {}
    for case, runs in by_case(list(effects)).items():
        replicates = zip(*(drawn[*case, run.seed] for run in runs), strict=True)
        means = [math.fsum(values) / len(runs) for values in replicates]
        if not means or min(means) == max(means) or not all(map(math.isfinite, means)):
            continue
        mean = math.fsum(means) / len(means)
        squares = math.fsum((value - mean) * (value - mean) for value in means)
        errors[case] = math.sqrt(squares / (len(means) - 1))
    return errors


def claims_of(paper: str, functions: Mapping[str, Any]) -> tuple[Claim, ...]:
    """Return the claims of a paper, in the order of its YAML file.

    ``functions`` has the functions and selections of the paper's ``claims.py`` by name.

    Raises
    ------
    XmlcError
        The file violates its schema, or names a function or selection that does not exist.
    """
    file = statements_of(paper)
    claims = []
    for name, said in converted(read_yaml(file), dict[str, Statement], str(file)).items():
        known = {"": None, **vars(planned), **functions}
        measure = said.measure or name.replace("-", "_")
        for other in (measure, said.only, *said.records):
            if other not in known:
                raise XmlcError(f"{file}: {name}: found no {other!r} in claims.py, expected a function or selection")
        needs = tuple(known[other] for other in said.records)
        claims.append(Claim(name=name, said=said, needs=needs, measure=known[measure], only=known[said.only]))
    return tuple(claims)


def fact(numbers: pd.DataFrame, name: str) -> pd.Series:
    """Return a hyperparameter, or a number about the dataset, of the record of each number.

    The value is NaN if the record has none, or if it is not a number.
    """
    facts = numbers[(numbers["quantity"] == name) & (numbers["variant"] == ABOUT)]
    facts = facts.drop_duplicates("record").set_index("record")["value"]
    return numbers["record"].map(pd.to_numeric(facts, errors="coerce"))


def scores(
    numbers: pd.DataFrame,
    quantity: str,
    variant: str = "",
    **where: str | Collection[str],
) -> pd.DataFrame:
    """Return one quantity of all runs. Missing values are left out.

    Parameters
    ----------
    numbers : DataFrame
        Numbers of records (`xmlc.suite.results.numbers`).
    quantity, variant : str
    **where : str or collection of str
        Names of models or methods to select, by the column ``model`` or ``method``.

    Returns
    -------
    DataFrame
        A row for each dataset, model and seed, the levels of the index. The level of the model is
        left out if ``model`` is one name, and there is a level of the method if ``method`` is
        several names. Column 0 has the value, and the other columns its values on resampled test
        sets. Arithmetic on such frames matches rows, so it computes the effects and their resampled
        values.
    """
    rows = numbers[numbers["quantity"] == quantity]
    rows = rows[rows["variant"] == variant].dropna(subset="value")
    levels = ["dataset", "model", "seed"]
    for name, wanted in where.items():
        if isinstance(wanted, str):
            rows = rows[rows[name] == wanted]
            levels = [level for level in levels if level != name]
        else:
            rows = rows[rows[name].isin(wanted)]
            levels = [*dict.fromkeys([*levels, name])]
    rows = rows.drop_duplicates([*levels, "record"])
    values = rows["value"].to_numpy(dtype=float)
    vectors = np.repeat(values[:, None], 1 + REPLICATES, axis=1)
    for place, drawn in enumerate(rows["resampled"]):
        if drawn is not None:
            vectors[place, 1:] = drawn
    index = pd.MultiIndex.from_frame(rows[levels])
    if index.has_duplicates:
        run = index[index.duplicated()][0]
        raise ValueError(f"{quantity}: found two numbers of {run}, expected one")
    return pd.DataFrame(vectors, index=index)


def mean_scores(
    numbers: pd.DataFrame,
    quantities: Sequence[str],
    variant: str = "",
    **where: str | Collection[str],
) -> pd.DataFrame:
    """Return the mean of several quantities of all runs, in the form of `scores`."""
    total = scores(numbers, quantities[0], variant, **where)
    for name in quantities[1:]:
        total = total + scores(numbers, name, variant, **where)
    return total.dropna(subset=[0]) / len(quantities)


def parts(numbers: pd.DataFrame, prefix: str, *quantities: str) -> pd.DataFrame:
    """Return a row for each part of a record, and a column for each quantity.

    The names of the parts (column ``variant``) begin with ``prefix``, such as ``max_nodes=`` for
    the steps of a sweep. The levels of the index are dataset, model, seed and variant.
    """
    rows = numbers[numbers["quantity"].isin(quantities)]
    rows = rows[rows["variant"].str.startswith(prefix)]
    table = rows.pivot(index=[*RUN, "variant"], columns="quantity", values="value")
    return table.reindex(columns=list(quantities)).astype(float)


def common(*frames: pd.DataFrame) -> list[pd.DataFrame]:
    """Return the rows that all frames have, in the order of the first frame."""
    index = frames[0].index
    for frame in frames[1:]:
        index = index[index.isin(frame.index)]
    return [frame.loc[index] for frame in frames]


def ratio(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return the ratios of positive numbers. Runs without a measured cost have none."""
    return (one / other).where((one > 0) & (other > 0))


def about(effects: pd.DataFrame | pd.Series, subject: str | None = None) -> pd.DataFrame:
    """Return effects of runs as effects of cases.

    The subject of the cases is ``subject``, or by default the model.
    """
    if isinstance(effects, pd.Series):
        effects = effects.to_frame(0)
    if subject is None:
        return effects.rename_axis(index={"model": "subject"}).reorder_levels(CASE)
    if "model" in effects.index.names:
        effects = effects.droplevel("model")
    return pd.concat({subject: effects}, names=["subject"]).reorder_levels(CASE)


def union(*effects: pd.DataFrame) -> pd.DataFrame:
    """Return the effects of several frames as one frame."""
    if not effects:
        return pd.DataFrame(columns=[0], index=pd.MultiIndex.from_arrays([[], [], []], names=CASE))
    return pd.concat(effects)


def least(*effects: pd.DataFrame) -> pd.DataFrame:
    """Return the smallest effect of each dataset, subject and seed.

    All parts of a statement hold if the smallest effect supports the statement.
    """
    return union(*effects).dropna(subset=[0]).groupby(level=CASE, sort=False).min()
