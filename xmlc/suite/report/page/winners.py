"""Compare all models on each dataset, in a table and in a drawing of quality against time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from xmlc.core.errors import XmlcError
from xmlc.data.synthetic import without_mark
from xmlc.suite.config import paths
from xmlc.suite.config.suite import Suite
from xmlc.suite.papers.building import Known, read_sources
from xmlc.suite.papers.panels import Panel, PanelColumn
from xmlc.suite.report.page.drawing import Point, quality_against_time
from xmlc.suite.report.status import Failure
from xmlc.suite.results.columns import column
from xmlc.suite.results.environments import environment_of
from xmlc.suite.results.frame import Number, Source, average, numbers_of
from xmlc.suite.results.intervals import estimate_of
from xmlc.suite.results.records.inference import InferenceRecord
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.records.thresholds import ThresholdRecord
from xmlc.suite.results.records.training import ModelRecord
from xmlc.suite.results.titles import LIMITS, method_title, model_title

QUALITY, TIME, PRESENT, EMPTY = "p@1", "train_seconds", "macro_f_present", "macro_f"
SETS = (PRESENT, EMPTY, "instance_f")
RANKED = (QUALITY, "p@5", TIME, "predict_ms", "model_mb")
HEADINGS = {EMPTY: "Macro-F, 0/0 = 1 (%)"}
KEYS = ("model", "method")
FOR = "for-"  # Names of methods that optimise one measure begin with this prefix, also in old records.
RunIdentity = tuple[type, str, str, str, str, int]


@dataclass(frozen=True)
class Contest:
    """Hold the comparison of all models on one dataset.

    Attributes
    ----------
    name : str
    labels : int
    made : str
        Date of the newest record.
    earlier : bool
        Whether the dataset's results are only from an earlier run and are in no table.
    headline : str
        A text with the best P@1, the best macro-F (over the labels present), and the models that have these values.
    panel : Panel
        A row for each model, sorted by P@1.
    best : set of (int, int)
        Row and column of the best numbers of each column, as printed.
    tied : set of (int, int)
        Row and column of each number whose difference from the column's best number is within the noise over seeds.
    drawing : Markup or None
        Drawing of P@1 against training time, or None if fewer than two models have both numbers.
    lacking : dict of str to str
        The reason why a model of a suite has no row, by the model's printed name.
    """

    name: str
    labels: int
    made: str
    earlier: bool
    headline: str
    panel: Panel
    best: set[tuple[int, int]]
    tied: set[tuple[int, int]]
    drawing: Markup | None
    lacking: dict[str, str]

    @property
    def identifier(self) -> str:
        """Return the identifier of the dataset's section. The names of synthetic datasets contain a space."""
        return f"on-{self.name}".replace(" ", "-")


def contests_of(
    sources: Sequence[Source],
    earlier: Sequence[Source],
    of_papers: Collection[str],
    suites: Sequence[Suite],
    failed: Sequence[Failure],
) -> list[Contest]:
    """Return the comparison of models for each dataset with results on the test set.

    The user's own datasets come first, and datasets of earlier runs last. Datasets of the same kind are sorted by their
    number of labels.

    Parameters
    ----------
    sources : sequence of Source
        Records that the tables use.
    earlier : sequence of Source
        Records of datasets that are in no table.
    of_papers : collection of str
        Names of the datasets of papers and suites. Datasets that are not in ``of_papers`` are the user's own datasets.
    suites : sequence of Suite
        The suites with finished tables. Each comparison lists the models of ``suites`` that have no results.
    failed : sequence of Failure
        Steps whose messages explain missing numbers.
    """
    found: list[Contest] = []
    for some, of_earlier in ((sources, False), (earlier, True)):
        by_dataset: dict[str, dict[RunIdentity, Source]] = {}
        for source in some:
            record = source.record
            if isinstance(record, RankingRecord | ThresholdRecord | InferenceRecord):
                identity = (type(record), *record.run_names, record.method_name, record.seed)
                by_dataset.setdefault(record.dataset_name, {}).setdefault(identity, source)
        # For an earlier run, models without results are listed only if no table is finished.
        wanted = () if of_earlier and sources else suites
        found += [_contest(name, list(own.values()), of_earlier, wanted, failed) for name, own in by_dataset.items()]
    shown = [one for one in found if one.panel.columns]  # A dataset has no columns if all runs reached a time limit.
    return sorted(shown, key=lambda one: (one.earlier, without_mark(one.name) in of_papers, one.labels))


def earlier_sources(root: Path, known: Known, datasets: Collection[str]) -> list[Source]:
    """Return the results of earlier runs in a project's folder, except for ``datasets``.

    Unreadable records are left out. For each dataset, model and training split, only records with the data and
    hyperparameters of the newest record are returned.
    """
    found: list[Source] = []
    every = dict.fromkeys(("dataset", "model", "seed", "split", "method"), "*")
    for pattern in (paths.RANKING, paths.EVALUATION, paths.EVALUATION_OF_FULL, paths.INFERENCE):
        for file in sorted(root.glob(pattern.of(**every))):
            about = paths.Pattern(pattern).read(file.relative_to(root))
            if about and about["dataset"] not in datasets:
                with suppress(XmlcError):
                    found += read_sources([file], known)
    models = [(s, s.record) for s in found if isinstance(s.record, ModelRecord)]
    models.sort(key=lambda one: environment_of(one[1]).get("time", ""))
    newest = {record.run_names: (record.data_digest, record.hyperparameters) for _, record in models}
    return [s for s, r in models if newest[r.run_names] == (r.data_digest, r.hyperparameters)]


def _contest(
    name: str,
    sources: list[Source],
    earlier: bool,
    suites: Iterable[Suite],
    failed: Sequence[Failure],
) -> Contest:
    in_suites = without_mark(name)

    def reason(model: str) -> str:
        return next((f"failed: {one.reason}" for one in failed if one.concerns(in_suites, model)), "")

    found = _numbers(sources)
    models = sorted(found, key=lambda model: -found[model][QUALITY].value if QUALITY in found[model] else 1)
    none = {(m, q): Number(quantity=q, reason=reason(m)) for m in models for q in (*RANKED, *SETS)}
    columns = [
        PanelColumn(HEADINGS.get(q, column(q).heading), q, [found[m].get(q) or none[m, q] for m in models], q)
        for q in (*RANKED[:2], *SETS, *RANKED[2:])
        if any(q in numbers for numbers in found.values())
    ]
    macro = {part.quantity: part for part in columns if part.quantity in (PRESENT, EMPTY)}
    if len(macro) == 2 and macro[PRESENT].texts == macro[EMPTY].texts:
        columns.remove(macro[EMPTY])
    names = Counter(map(model_title, models))
    titles = {m: model_title(m) if names[model_title(m)] == 1 else f"{model_title(m)} ({m})" for m in models}
    panel = Panel("", ["Model"], [(titles[model],) for model in models], columns)
    tops = {part.quantity: top for part in columns if (top := _top(part))}
    places = [
        (i, j, part.numbers[i], tops.get(part.quantity)) for j, part in enumerate(columns) for i in range(len(models))
    ]
    best = {
        (i, j) for i, j, number, top in places if top and number.rounded == top.rounded and number.model not in LIMITS
    }
    tied = {
        (i, j)
        for i, j, number, top in places
        if top and (i, j) not in best and not column(number.quantity).cost and _tied(number, top)
    }
    said = [
        f"{column(q).title} {top.text} ({', '.join(filter(None, (titles[top.model], method_title(top.method))))})"
        for q in (QUALITY, PRESENT)
        if (top := tops.get(q))
    ]
    timed = [
        Point(numbers[TIME].value, numbers[QUALITY].value, titles[model])
        for model, numbers in found.items()
        if model not in LIMITS and {TIME, QUALITY} <= {*numbers} and numbers[TIME].value > 0
    ]
    return Contest(
        name=name,
        labels=int(next(s.record.dataset.m for s in sources if isinstance(s.record, ModelRecord))),
        made=max(environment_of(source.record).get("time", "") for source in sources)[:10],
        earlier=earlier,
        headline=f"best {', '.join(said)}",
        panel=panel,
        best=best,
        tied=tied,
        drawing=quality_against_time(timed) if len(timed) > 1 else None,
        lacking={
            model_title(model): spec.without.get(in_suites) or reason(model) or "not run"
            for suite in suites
            for model, spec in suite.models.items()
            if in_suites in suite.datasets and model not in found and spec.task in (None, suite.task_of(in_suites))
        },
    )


def _numbers(sources: Iterable[Source]) -> dict[str, dict[str, Number]]:
    """Return the numbers of each model by quantity.

    For a measure of label sets, the number comes from the model's best method. Methods that optimise a measure other
    than the measured one are left out.
    """
    found: dict[str, dict[str, Number]] = {}
    groups: dict[tuple[type, str], list[Source]] = {}
    for source in sources:
        groups.setdefault((type(source.record), getattr(source.record, "split", "")), []).append(source)
    for (kind, _), group in groups.items():
        for (model, method), row in average(numbers_of(group), KEYS).items():
            own = found.setdefault(model, {})
            for name in RANKED if kind is RankingRecord else SETS:
                number = replace(row[name], deviation=math.nan) if column(name).cost else row[name]
                is_for = method.removeprefix(FOR).replace("-", "_") if method.startswith(FOR) else name
                # Methods that optimise macro-F are used for all variants of macro-F.
                if number.is_missing or not name.startswith(is_for):
                    continue
                if name not in own or number.value > own[name].value:
                    own[name] = number
    return found


def _top(part: PanelColumn) -> Number | None:
    """Return the best number of a column, or None. Models that use the true posteriors (`LIMITS`) are left out."""
    numbers = [one for one in part.numbers if one.model not in LIMITS and one.rounded is not None]
    sign = -1 if column(part.quantity).better == "lower" else 1
    return max(numbers, key=lambda one: sign * one.value, default=None)


def _tied(number: Number, top: Number) -> bool:
    """Return whether a number is tied with ``top``, the best number of the column.

    Two numbers are tied if the interval of their mean difference over common seeds contains 0. A single seed has no
    interval.
    """
    if number is top or number.model in LIMITS:
        return False
    differences = [float(top.runs[seed]) - float(number.runs[seed]) for seed in top.runs if seed in number.runs]
    estimate = estimate_of(differences) if differences else None
    return estimate is not None and estimate.has_interval and not estimate.side_of(0)
