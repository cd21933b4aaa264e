"""Test the statements of plt2016 on our records. Page numbers begin with 1 at the paper's first page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from xmlc.suite.config.planned import RANKINGS, THRESHOLDS
from xmlc.suite.papers.claims import Claims, by_method, by_model, datasets, ranked_apart
from xmlc.suite.papers.claims_table import claims_table
from xmlc.suite.papers.outcome import Effect
from xmlc.suite.results.records.base import Record
from xmlc.suite.results.records.ranking import RankingRecord
from xmlc.suite.results.records.thresholds import ThresholdRecord

statements = Claims.of("plt2016")

EXACT, HASHED = PLTS = ("plt", "plt-hashed")
FOREST = "fastxml"
METHODS = ("fta", "sto", "ofo")
FEW_LABELS = 6  # The paper calls this number of labels per instance "small (i.e., < 6)" (Section 6.1).
# Published effects: P@1 of PLT minus P@1 of FastXML in Table 1.
SIX = ("rcv1-2k", "amazoncat-13k", "wiki10-31k", "delicious-200k", "wikilshtc-325k", "amazon-670k")
TABLE_1 = {"": dict(zip(SIX, (-0.67, -1.48, 2.63, 2.56, -3.68, 2.41), strict=True))}
THE_SIX = datasets("the six datasets of the paper's tables", *SIX)
FIVE = datasets("the datasets of the paper's tables except RCV1", *SIX[1:])
FEW = ("datasets with fewer than 6 labels per instance", lambda record: record.dataset.labels_per_instance < FEW_LABELS)

Methods = dict[str, ThresholdRecord]
R = TypeVar("R", bound=Record)


def of_the_paper(records: Sequence[R]) -> list[R]:
    """Return the records without duplicate PLTs.

    If the paper's PLT with hashed weights was run, PLTs with exact weights are left out. The results of both PLTs are
    nearly equal.
    """
    hashed = {(record.dataset.name, record.seed) for record in records if record.model == HASHED}
    return [r for r in records if r.model != EXACT or (r.dataset.name, r.seed) not in hashed]


@statements.claim("precision-on-par", RANKINGS, printed=TABLE_1)
def precision_on_par(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """Compare P@1 of PLT and FastXML."""
    for (dataset, _), models in by_model(of_the_paper(records)).items():
        for plt in PLTS:
            if {plt, FOREST} <= {*models}:
                yield ranked_apart(dataset, plt, models[plt], models[FOREST], "p@1")


@statements.claim("better-on-half", RANKINGS, about=THE_SIX)
def better_on_half(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """Count the datasets on which PLT has the higher P@1, for each seed."""
    ahead: dict[int, list[bool]] = {}
    for effect in precision_on_par(records):
        ahead.setdefault(effect.seed, []).append(effect.value > 0)
    for seed, won in ahead.items():
        yield Effect("all", "", seed, sum(won) / len(won) - 0.5)


@statements.claim("trains-faster", RANKINGS, about=FEW)
def trains_faster(records: Sequence[RankingRecord]) -> Iterator[Effect]:
    """Compare the training times of PLT and FastXML."""
    return _multiples(records, lambda record: record.costs.train_seconds)


@statements.claim("sto-best-on-validation", THRESHOLDS)
def sto_best_on_validation(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """Compare macro-F of STO at the largest c of its grid with the better of FTA and OFO, on the validation set."""
    for run, methods in _tuned(records, *METHODS):
        sto = max(methods["sto"].grid, key=lambda point: point.c or 0)
        best = max(_on_validation(methods[name]) for name in ("fta", "ofo"))
        yield Effect(*run, 100 * sto.validation["macro_f"] - best)


@statements.claim("sto-loses-most-on-test", THRESHOLDS)
def sto_loses_most_on_test(records: Sequence[ThresholdRecord], metric: str = "macro_f") -> Iterator[Effect]:
    """Compare STO with FTA and OFO by the loss in macro-F from the validation set to the test set."""
    for run, methods in _tuned(records, *METHODS, metric=metric):
        loss = {name: _on_validation(methods[name], metric) - _on_test(methods[name], metric) for name in METHODS}
        yield Effect(*run, loss["sto"] - max(loss["fta"], loss["ofo"]))


@statements.claim("fta-and-ofo-lose-nothing", THRESHOLDS)
def fta_and_ofo_lose_nothing(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """Compare macro-F on the validation set with macro-F on the test set, for FTA and OFO.

    In Table 4, OFO (a, b) loses up to 26 points.
    """
    for run, methods in _tuned(records, "fta", "ofo"):
        yield Effect(*run, -max(abs(_on_validation(methods[m]) - _on_test(methods[m])) for m in ("fta", "ofo")))


@statements.claim("sto-outperformed", THRESHOLDS)
def sto_outperformed(records: Sequence[ThresholdRecord], metric: str = "macro_f") -> Iterator[Effect]:
    """Compare STO on the test set with FTA or OFO, whichever is better on the validation set.

    A choice on the test set would favour FTA and OFO.
    """
    for run, methods in _tuned(records, *METHODS, metric=metric):
        rival = max((methods[name] for name in ("fta", "ofo")), key=lambda record: _on_validation(record, metric))
        yield Effect(*run, _on_test(rival, metric) - _on_test(methods["sto"], metric))


# These two claims are repeated for other definitions of macro-F. The definitions differ for labels without positives.
for suffix, metric in {"zero": "macro_f_zero", "present": "macro_f_present"}.items():
    for one in (sto_loses_most_on_test, sto_outperformed):
        statements.claim(f"{one.name}-{suffix}", *one.needs)(partial(one.measure, metric=metric))


@statements.claim("ofo-most-promising", THRESHOLDS)
def ofo_most_promising(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """Compare OFO with FTA. Another claim covers STO. The paper calls OFO "most promising"."""
    return _difference(records, "ofo", "fta")


@statements.claim("tuning-a-helps", THRESHOLDS)
def tuning_a_helps(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """Compare OFO with tuned a and b against OFO with only b tuned."""
    return _difference(records, "ofo-ab", "ofo")


@statements.claim("ofo-with-a-outperforms", THRESHOLDS, about=THE_SIX)
def ofo_with_a_outperforms(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """Compare OFO with tuned a and b against the better of FTA and STO on the test set."""
    return _difference(records, "ofo-ab", "fta", "sto")


@statements.claim("one-threshold-more-stable", THRESHOLDS)
def one_threshold_more_stable(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """Compare thresholds max(1/c, nu_j) with one common c against thresholds with a separate c for each label.

    Both have the same grid of values of c.
    """
    return _difference(records, "fta", "fta-labelwise")


@statements.claim("fewer-inner-products", THRESHOLDS, about=FIVE)
def fewer_inner_products(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """Compare the numbers of inner products: PLT with FTA against the cheapest alternative.

    The alternatives are PLT with STO or OFO, and FastXML.
    """
    return _least_of_others(records, lambda record: record.costs.test_inner_products_per_instance)


@statements.claim("sto-costs-most", THRESHOLDS, about=THE_SIX)
def sto_costs_most(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """Compare the numbers of inner products that PLT needs with the thresholds of each method.

    With lower thresholds, PLT visits more nodes of the tree.
    """
    for run, methods in _tuned(records, *METHODS):
        counts = {name: methods[name].costs.test_inner_products_per_instance for name in METHODS}
        fta, sto, ofo = (float(counts[name] or 0) for name in METHODS)
        if run[1] in PLTS and min(fta, sto, ofo) > 0:
            yield Effect(*run, sto / max(fta, ofo))


@statements.claim("predicts-faster", THRESHOLDS, about=FIVE)
def predicts_faster(records: Sequence[ThresholdRecord]) -> Iterator[Effect]:
    """Compare the prediction times: PLT with FTA against the fastest alternative.

    The alternatives are PLT with STO or OFO, and FastXML with all three methods.
    """
    return _least_of_others(records, lambda record: record.costs.test_ms_per_instance)


def _tuned(
    records: Sequence[ThresholdRecord], *needed: str, metric: str = "macro_f"
) -> Iterator[tuple[tuple[str, str, int], Methods]]:
    """Yield each run of the paper's models, with a dict from method to record.

    A run is left out if the metric is missing for a method in ``needed``.
    """
    for run, found in by_method(of_the_paper(records)).items():
        methods = {name: record for name, record in found.items() if metric in record.best.validation}
        if run[1] in (*PLTS, FOREST) and {*needed} <= {*methods}:
            yield run, methods


def _difference(records: Sequence[ThresholdRecord], better: str, *worse: str) -> Iterator[Effect]:
    """Yield the test macro-F of one method minus the best test macro-F of other methods."""
    for run, methods in _tuned(records, better, *worse):
        yield Effect(*run, _on_test(methods[better]) - max(_on_test(methods[name]) for name in worse))


def _least_of_others(
    records: Sequence[ThresholdRecord], cost_of: Callable[[ThresholdRecord], float | None]
) -> Iterator[Effect]:
    """Yield the cost of the cheapest alternative to PLT with FTA, as a multiple of the cost of PLT with FTA."""
    runs = by_method([record for record in of_the_paper(records) if record.method in METHODS])
    for (dataset, plt, seed), methods in runs.items():
        forest = runs.get((dataset, FOREST, seed), {})
        ours, *others = (cost_of(methods[name]) if name in methods else None for name in METHODS)
        others += [cost_of(record) for record in forest.values()]
        known = [cost for cost in others if cost]
        if plt in PLTS and forest and ours and len(known) == len(others):
            yield Effect(dataset, plt, seed, min(known) / ours)


def _multiples(records: Sequence[R], cost_of: Callable[[R], float | None]) -> Iterator[Effect]:
    """Yield the costs of FastXML as multiples of PLT's costs, if both costs are known."""
    for (dataset, seed), models in by_model(of_the_paper(records)).items():
        costs = {name: cost for name, record in models.items() if (cost := cost_of(record))}
        for plt in PLTS:
            if {plt, FOREST} <= {*costs}:
                yield Effect(dataset, plt, seed, costs[FOREST] / costs[plt])


def _on_validation(record: ThresholdRecord, metric: str = "macro_f") -> float:
    return 100 * record.best.validation[metric]


def _on_test(record: ThresholdRecord, metric: str = "macro_f") -> float:
    return 100 * record.best.test[metric]


CLAIMS = statements.all()
claims = claims_table(CLAIMS)
