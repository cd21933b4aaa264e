"""Test the statements of gfm2011 on our records. Page numbers begin with 1 at the paper's first page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

from xmlc.suite.config.planned import INFERRED, SIMULATIONS
from xmlc.suite.papers.claims import Claims, by_method
from xmlc.suite.papers.claims_table import claims_table
from xmlc.suite.papers.outcome import Effect, together
from xmlc.suite.results.records.inference import InferenceRecord
from xmlc.suite.results.records.simulation import SimulationRecord

statements = Claims.of("gfm2011")

# The methods that optimise F in the paper's Table 1, by model. The published MEUF is `meuf-cubic`.
FOR_F = {"pcc": ("gfm", "gfm-t", "meuf-approx", "meuf-cubic"), "br": ("meuf-approx", "meuf-cubic")}


def _runs(records: Sequence[InferenceRecord]) -> Iterator[tuple[str, str, int, dict[str, InferenceRecord]]]:
    """Yield (dataset, model, seed, dict from method to finished record) for each run."""
    for run, methods in by_method(record for record in records if record.metrics).items():
        yield *run, methods


def _scores(methods: dict[str, InferenceRecord], names: Iterable[str], metric: str) -> list[float]:
    """Return the values of a metric for the methods ``names``, in percent.

    Methods without a finished record are left out.
    """
    found = [methods[name].metrics for name in names if name in methods]
    return [100 * metrics[metric] for metrics in found if metrics]


@statements.claim("inference-for-f-pays", INFERRED)
def inference_for_f_pays(records: Sequence[InferenceRecord], metric: str = "instance_f") -> Iterator[Effect]:
    """Compare the F-measure of the method H with the lowest F-measure of the methods that optimise F."""
    for dataset, model, seed, methods in _runs(records):
        of_h, others = _scores(methods, ["h"], metric), _scores(methods, FOR_F.get(model, ()), metric)
        if of_h and others:
            yield Effect(dataset, model, seed, min(others) - of_h[0])


# The Hamming loss of the method H is compared with the lowest Hamming loss of the methods that optimise F.
h_has_the_least_hamming_loss = statements.claim("h-has-the-least-hamming-loss", INFERRED)(
    partial(inference_for_f_pays.measure, metric="hamming_loss")
)


@statements.claim("no-clear-winner", INFERRED)
def no_clear_winner(records: Sequence[InferenceRecord]) -> Iterator[Effect]:
    """Compare the worst and the best of the methods that optimise F, on the same samples of a PCC.

    BR is left out, because its only methods that optimise F are MEUF and a variant of MEUF.
    """
    for dataset, model, seed, methods in _runs(records):
        if model == "pcc" and {"gfm", "meuf-cubic"} <= {*methods}:
            scores = _scores(methods, FOR_F[model], "instance_f")
            yield Effect(dataset, "", seed, min(scores) - max(scores))


@statements.claim("gfm-faster", INFERRED)
def gfm_faster(records: Sequence[InferenceRecord]) -> Iterator[Effect]:
    """Compare the inference times of GFM and MEUF on the same samples."""
    for dataset, model, seed, methods in _runs(records):
        # For models other than PCC, GFM assumes independent labels.
        if model == "pcc" and {"gfm", "meuf-cubic"} <= {*methods}:
            gfm, meuf = (methods[name].costs.infer_ms_per_instance for name in ("gfm", "meuf-cubic"))
            if gfm and meuf:
                yield Effect(dataset, "", seed, meuf / gfm)


@statements.claim("meuf-best-of-independent", SIMULATIONS)
def meuf_best_of_independent(
    records: Sequence[SimulationRecord], model: str = "independent", sign: int = 1
) -> Iterator[Effect]:
    """Compare MEUF and GFM on independent labels, by their mean F-measures over the sample sizes.

    The samples of each size are drawn independently. An effect is MEUF minus GFM, or GFM minus MEUF if ``sign`` is -1.
    """
    for record in records:
        gain = record.models[model]["meuf_minus_gfm"]
        error = together(*gain["standard_error"]) / len(gain["mean"])
        yield _simulated(record, model, sign * fmean(gain["mean"]), error)


# GFM and MEUF are also compared on the model in the caption of Figure 1.
meuf_poor_as_printed = statements.claim("meuf-poor-as-printed", SIMULATIONS)(
    partial(meuf_best_of_independent.measure, model="dependent", sign=-1)
)


@statements.claim("gfm-approaches-meuf", SIMULATIONS)
def gfm_approaches_meuf(records: Sequence[SimulationRecord]) -> Iterator[Effect]:
    """Compare the difference MEUF minus GFM at the smallest and at the largest sample size.

    The smallest samples and the largest samples are drawn independently.
    """
    for record in records:
        gain = record.models["independent"]["meuf_minus_gfm"]
        (first, *_, last), (error, *_, other) = gain["mean"], gain["standard_error"]
        yield _simulated(record, "independent", first - last, together(error, other))


@statements.claim("variants-as-good", SIMULATIONS)
def variants_as_good(records: Sequence[SimulationRecord]) -> Iterator[Effect]:
    """Measure the distance between each method and its simplified variant, as a mean over sample sizes.

    The errors of the variant and of the method are treated as independent.
    """
    for record in records:
        for model in ("independent", "dependent"):
            methods = record.models[model]["methods"]
            for variant, exact in (("gfm-t", "gfm"), ("meuf-approx", "meuf")):
                one, other = methods[variant], methods[exact]
                apart = fmean(abs(a - b) for a, b in zip(one["mean"], other["mean"], strict=True))
                errors = (*one["standard_error"], *other["standard_error"])
                found = _simulated(record, model, -apart, together(*errors) / len(one["mean"]))
                yield replace(found, subject=variant, trials=record.trials)


def _simulated(record: SimulationRecord, model: str, share: float, error: float) -> Effect:
    return Effect(model, "", record.seed, 100 * share, 100 * error, record.paired_trials or record.trials)


claims = claims_table(statements.all())
