"""Statements of plt2016, tested on our records; pages are counted from the paper's first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from xmlc.suite.config.planned import RANKINGS, THRESHOLDS
from xmlc.suite.papers.claims import Claim, Effect, by_method, by_model, claim, claims_table, datasets, ranked_apart
from xmlc.suite.results.records.base import Record
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.records.thresholds import ThresholdRecord

EXACT, HASHED = PLTS = ("plt", "plt-hashed")
FOREST = "fastxml"
METHODS = ("fta", "sto", "ofo")
FEW_LABELS = 6  # "small (i.e., < 6)" (Section 6.1)
# PLT's P@1 less FastXML's.
SIX = ("rcv1-2k", "amazoncat-13k", "wiki10-31k", "delicious-200k", "wikilshtc-325k", "amazon-670k")
TABLE_1 = {"": dict(zip(SIX, (-0.67, -1.48, 2.63, 2.56, -3.68, 2.41), strict=True))}
THE_SIX = datasets("the six datasets of the paper's tables", *SIX)
FIVE = datasets("the datasets of the paper's tables but RCV1", *SIX[1:])
FEW = ("datasets with fewer than 6 labels per instance", lambda record: record.dataset.labels_per_instance < FEW_LABELS)
POINTS = "points of macro-F"
HALF = (-0.01, "half of the datasets is enough")
ALIKE = (-1.0, "a point: no table has FTA's and OFO's scores on validation sets")
PAR = (-3.68, "the most by which PLT is behind in the paper's Table 1 (on WikiLSHTC), which the paper calls a par")

Methods = dict[str, ThresholdRecord]
R = TypeVar("R", bound=Record)


def of_the_paper(records: Sequence[R]) -> list[R]:
    """Leave out PLTs with exact weights where those with hashed ones, the paper's, were run: they nearly agree."""
    hashed = {(record.dataset.name, record.seed) for record in records if record.model == HASHED}
    return [r for r in records if r.model != EXACT or (r.dataset.name, r.seed) not in hashed]


@claim(RANKINGS, unit="points of P@1, PLT − FastXML", stated="verbatim", margin=PAR, printed=TABLE_1)
def precision_on_par(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """PLT's precision@1 is on a par with FastXML's.

    Compare P@1 of PLT and FastXML.

    Source: Section 6.1, page 7; Table 1
    """
    for (dataset, _), models in by_model(of_the_paper(records)).items():
        for plt in PLTS:
            if {plt, FOREST} <= {*models}:
                yield ranked_apart(dataset, plt, models[plt], models[FOREST], "p@1")


@claim(RANKINGS, unit="share of datasets with PLT ahead in P@1 − 1/2", stated="verbatim", about=THE_SIX, margin=HALF)
def better_on_half(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """PLT's precision@1 is higher than FastXML's on half of the datasets.

    Count the datasets, seed by seed.

    Source: Section 6.1, page 7; Table 1
    """
    ahead: dict[int, list[bool]] = {}
    for effect in precision_on_par(records):
        ahead.setdefault(effect.seed, []).append(effect.value > 0)
    for seed, won in ahead.items():
        yield Effect("all", "", seed, sum(won) / len(won) - 0.5)


@claim(RANKINGS, unit="times, FastXML / PLT", stated="verbatim", about=FEW, scale="ratio", cost=True)
def trains_faster(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """Where instances have fewer than 6 labels on average, PLT trains in less time than FastXML.

    Compare the training times of PLT and FastXML.

    Source: Section 6.1, page 7; Table 1
    """
    return _multiples(records, lambda record: record.costs.train_seconds)


@claim(THRESHOLDS, unit=f"{POINTS}, STO with the greatest c − the better of FTA and OFO", stated="verbatim")
def sto_best_on_validation(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """With a high c STO has a higher macro-F on the validation set than FTA and OFO.

    Compare STO with the greatest c of its grid with FTA and OFO at their best, on the set that they are tuned on.

    Source: Section 6.2, page 7; Figure 1
    """
    for run, methods in _tuned(records, *METHODS):
        sto = max(methods["sto"].grid, key=lambda point: point.c or 0)
        best = max(_on_validation(methods[name]) for name in ("fta", "ofo"))
        yield Effect(*run, 100 * sto.validation["macro_f"] - best)


@claim(THRESHOLDS, unit=f"{POINTS}, loss of STO − the greater loss of FTA and OFO", stated="verbatim")
def sto_loses_most_on_test(records: Sequence[ThresholdRecord], metric: str = "macro_f") -> Iterator[Effect]:
    """From the validation set to the test set STO loses more macro-F than FTA and OFO.

    Compare how far macro-F falls from the validation set to the test set.

    Source: Section 6.2, page 7; Figure 1
    """
    for run, methods in _tuned(records, *METHODS, metric=metric):
        loss = {name: _on_validation(methods[name], metric) - _on_test(methods[name], metric) for name in METHODS}
        yield Effect(*run, loss["sto"] - max(loss["fta"], loss["ofo"]))


@claim(THRESHOLDS, unit=f"{POINTS}, − the most that FTA or OFO moves", stated="verbatim", margin=ALIKE)
def fta_and_ofo_lose_nothing(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """FTA and OFO reach the same macro-F on the validation set and on the test set.

    Compare both sets. In Table 4 OFO (a, b) loses up to 26 points.

    Source: Section 6.2, page 7; Figure 1
    """
    for run, methods in _tuned(records, "fta", "ofo"):
        yield Effect(*run, -max(abs(_on_validation(methods[m]) - _on_test(methods[m])) for m in ("fta", "ofo")))


@claim(THRESHOLDS, unit=f"{POINTS}, FTA or OFO − STO", stated="verbatim")
def sto_outperformed(records: Sequence[ThresholdRecord], metric: str = "macro_f") -> Iterator[Effect]:
    """On the test set STO has a lower macro-F than FTA or OFO, whichever is better on the validation set.

    Compare on the test set; the better of two on the test set itself would gain by having two chances.

    Source: Section 6.2, page 7; Table 2
    """
    for run, methods in _tuned(records, *METHODS, metric=metric):
        rival = max((methods[name] for name in ("fta", "ofo")), key=lambda record: _on_validation(record, metric))
        yield Effect(*run, _on_test(rival, metric) - _on_test(methods["sto"], metric))


def _otherwise(one: Claim, suffix: str, metric: str, convention: str) -> Claim:
    """Return a claim on the macro-F of another convention for labels without positives; thresholds are the same."""
    statement, measure = f"{one.statement} Here {convention}.", partial(one.measure, metric=metric)
    return replace(one, name=f"{one.name}-{suffix}", statement=statement, measure=measure, stated="ours")


ZERO = ("zero", "macro_f_zero", "with 0/0 = 0, where the paper has 1")
PRESENT = ("present", "macro_f_present", "over the labels that the set has an instance of, where the paper has all")


@claim(THRESHOLDS, unit=f"{POINTS}, OFO − FTA", stated="derived")
def ofo_most_promising(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """On the test set OFO has a higher macro-F than FTA.

    Compare OFO with FTA: that STO is behind is a claim of its own. The paper says "most promising".

    Source: Section 7, page 8; Table 2
    """
    return _difference(records, "ofo", "fta")


@claim(THRESHOLDS, unit=f"{POINTS}, OFO (a, b) − OFO", stated="verbatim")
def tuning_a_helps(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """Tuning OFO's a as well as b raises the macro-F on the test set.

    Compare OFO with both parameters tuned and with b alone.

    Source: Section 6.2, page 7; Appendix D, Table 4
    """
    return _difference(records, "ofo-ab", "ofo")


@claim(THRESHOLDS, unit=f"{POINTS}, OFO (a, b) − the better of FTA and STO", stated="verbatim", about=THE_SIX)
def ofo_with_a_outperforms(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """With a and b tuned OFO has a higher macro-F on the test set than FTA and STO on almost every dataset.

    Compare with the better of both on the test set.

    Source: Appendix D; Table 4
    """
    return _difference(records, "ofo-ab", "fta", "sto")


@claim(THRESHOLDS, unit=f"{POINTS}, FTA − FTA label-wise", stated="derived")
def one_threshold_more_stable(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """FTA with one c for all labels has a higher macro-F on the test set than label by label.

    Compare thresholds max(1/c, nu_j) with a common c and with one for each label, from the same fixed values.

    Source: Section 4.2, page 3, which calls it more stable
    """
    return _difference(records, "fta", "fta-labelwise")


@claim(THRESHOLDS, unit="inner products, the least of all others / PLT", stated="derived", about=FIVE, scale="ratio")
def fewer_inner_products(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """PLT with FTA's threshold computes the fewest inner products for an instance, except on RCV1.

    Compare them with those of PLT with STO's and OFO's thresholds and of FastXML, the least.

    Source: Section 6.2, page 8, of times; Table 2
    """
    return _least_of_others(records, lambda record: record.costs.test_inner_products_per_instance)


@claim(THRESHOLDS, unit="inner products, STO / the more of FTA and OFO", stated="derived", about=THE_SIX, scale="ratio")
def sto_costs_most(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """PLT computes more inner products for an instance with STO's thresholds than with FTA's or OFO's, in almost every
    case.

    Compare the inner products of PLT with the thresholds of each method: lower ones explore more of the tree.

    Source: Section 6.2, page 8, of times; Table 2
    """
    for run, methods in _tuned(records, *METHODS):
        counts = {name: methods[name].costs.test_inner_products_per_instance for name in METHODS}
        fta, sto, ofo = (float(counts[name] or 0) for name in METHODS)
        if run[1] in PLTS and min(fta, sto, ofo) > 0:
            yield Effect(*run, sto / max(fta, ofo))


@claim(THRESHOLDS, unit="times, the least of all others / PLT", stated="verbatim", about=FIVE, scale="ratio", cost=True)
def predicts_faster(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """PLT with FTA's threshold has the smallest time of prediction, except on RCV1.

    Compare it with those of PLT with STO's and OFO's thresholds and of FastXML with all three, the least.

    Source: Section 6.2, page 8; Table 2
    """
    return _least_of_others(records, lambda record: record.costs.test_ms_per_instance)


def _tuned(
    records: Sequence[ThresholdRecord], *needed: str, metric: str = "macro_f"
) -> Iterator[tuple[tuple[str, str, int], Methods]]:
    """Yield the records by method of each run of the paper's models that has all methods needed, with the metric."""
    for run, found in by_method(of_the_paper(records)).items():
        methods = {name: record for name, record in found.items() if metric in record.best.validation}
        if run[1] in (*PLTS, FOREST) and {*needed} <= {*methods}:
            yield run, methods


def _difference(records: Sequence[ThresholdRecord], better: str, *worse: str) -> Iterator[Effect]:
    """Yield by how far one method's test macro-F exceeds the best of others."""
    for run, methods in _tuned(records, better, *worse):
        yield Effect(*run, _on_test(methods[better]) - max(_on_test(methods[name]) for name in worse))


def _least_of_others(
    records: Sequence[ThresholdRecord], cost_of: Callable[[ThresholdRecord], float | None]
) -> Iterator[Effect]:
    """Yield the least cost of all other pairs of model and method in multiples of that of PLT with FTA."""
    runs = by_method([record for record in of_the_paper(records) if record.method in METHODS])
    for (dataset, plt, seed), methods in runs.items():
        forest = runs.get((dataset, FOREST, seed), {})
        ours, *others = (cost_of(methods[name]) if name in methods else None for name in METHODS)
        others += [cost_of(record) for record in forest.values()]
        known = [cost for cost in others if cost]
        if plt in PLTS and forest and ours and len(known) == len(others):
            yield Effect(dataset, plt, seed, min(known) / ours)


def _multiples(records: Sequence[R], cost_of: Callable[[R], float | None]) -> Iterator[Effect]:
    """Yield FastXML's costs in multiples of PLT's, where both are known."""
    for (dataset, seed), models in by_model(of_the_paper(records)).items():
        costs = {name: cost for name, record in models.items() if (cost := cost_of(record))}
        for plt in PLTS:
            if {plt, FOREST} <= {*costs}:
                yield Effect(dataset, plt, seed, costs[FOREST] / costs[plt])


def _on_validation(record: ThresholdRecord, metric: str = "macro_f") -> float:
    return 100 * record.best.validation[metric]


def _on_test(record: ThresholdRecord, metric: str = "macro_f") -> float:
    return 100 * record.best.test[metric]


CLAIMS = (
    precision_on_par,
    better_on_half,
    trains_faster,
    sto_best_on_validation,
    sto_loses_most_on_test,
    *(_otherwise(sto_loses_most_on_test, *convention) for convention in (ZERO, PRESENT)),
    fta_and_ofo_lose_nothing,
    sto_outperformed,
    *(_otherwise(sto_outperformed, *convention) for convention in (ZERO, PRESENT)),
    ofo_most_promising,
    tuning_a_helps,
    ofo_with_a_outperforms,
    one_threshold_more_stable,
    fewer_inner_products,
    sto_costs_most,
    predicts_faster,
)
claims = claims_table(CLAIMS)
