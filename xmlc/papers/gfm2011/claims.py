"""Statements of gfm2011, tested on our records; pages are the paper's, from 1."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import linear_regression

from xmlc.papers.common.claims import Effect, by_method, claim, claims_table
from xmlc.papers.tables.titles import method_title, model_title
from xmlc.records.inference import InferenceRecord
from xmlc.records.simulation import SimulationRecord
from xmlc.suites.needs import INFERRED_FROM_MODELS, SIMULATIONS

# By model, the methods for F that the paper's Table 1 has; MEUF as published is `meuf-cubic`.
FOR_F = {"pcc": ("gfm", "gfm-t", "meuf-approx", "meuf-cubic"), "br": ("meuf-approx", "meuf-cubic")}
VARIANTS = {"gfm-t": "gfm", "meuf-approx": "meuf-cubic"}
POINTS = "points of F"
SIMILAR = 0.5
SIMILAR_REASON = "half a point; the methods for F are 4 to 11 points above the one for Hamming loss"
POOR = 1.0

Runs = Iterator[tuple[str, str, int, dict[str, InferenceRecord]]]


def runs_of(records: Sequence[InferenceRecord], *methods: str) -> Runs:
    """Yield dataset, model, seed and the finished records by method of each run that has these methods."""
    finished = [record for record in records if record.metrics is not None]
    for (dataset, model, seed), found in by_method(finished).items():
        if {*methods} <= {*found}:
            yield dataset, model, seed, found


def measured(record: InferenceRecord, metric: str) -> float:
    """Return a metric of a finished record in percent."""
    assert record.metrics is not None
    return 100 * record.metrics[metric]


@claim(INFERRED_FROM_MODELS, unit=f"{POINTS}, the lowest of the methods for F − H")
def inference_for_f_pays(records: Sequence[InferenceRecord]) -> Iterator[Effect]:
    """Every method that infers for F has a higher F than predicting the labels with a probability of at least 1/2
    (H).

    Compare the worst of the methods for F with H.

    Source: Section 4, page 7; Table 1
    """
    return _lowest_above_h(records, "instance_f")


@claim(INFERRED_FROM_MODELS, unit="points of Hamming loss, the lowest of the methods for F − H")
def h_has_the_least_hamming_loss(records: Sequence[InferenceRecord]) -> Iterator[Effect]:
    """H, which is optimal for the Hamming loss, has the lowest Hamming loss.

    Compare the Hamming losses.

    Source: Section 4, page 7; Table 1
    """
    return _lowest_above_h(records, "hamming_loss")


def _lowest_above_h(records: Sequence[InferenceRecord], metric: str) -> Iterator[Effect]:
    """Yield by how much the lowest of the methods for F is above H."""
    for dataset, model, seed, methods in runs_of(records, "h"):
        if others := [measured(methods[name], metric) for name in FOR_F.get(model, ()) if name in methods]:
            yield Effect(dataset, model, seed, min(others) - measured(methods["h"], metric))


@claim(INFERRED_FROM_MODELS, unit=f"{POINTS}, − |GFM − MEUF|", margin=(-SIMILAR, SIMILAR_REASON))
def no_clear_winner(records: Sequence[InferenceRecord]) -> Iterator[Effect]:
    """On the datasets neither GFM nor MEUF is clearly better: given the same samples of a PCC, their F is about the
    same.

    Take how far the two are apart, whichever is ahead.

    Source: Section 4, page 7; Table 1
    """
    for dataset, seed, difference in _gfm_minus_meuf(records):
        yield Effect(dataset, "", seed, -abs(difference))


@claim(INFERRED_FROM_MODELS, unit=f"{POINTS}, GFM − MEUF, given the same samples of a PCC")
def gfm_above_meuf(records: Sequence[InferenceRecord]) -> Iterator[Effect]:
    """Labels of real data depend on each other, so GFM, which does not assume independence, has a higher F than MEUF.

    Take how far GFM is ahead.

    Source: Section 6, page 8 (from a theoretical perspective); Section 3, page 6, leaves it open
    """
    for dataset, seed, difference in _gfm_minus_meuf(records):
        yield Effect(dataset, "", seed, difference)


def _gfm_minus_meuf(records: Sequence[InferenceRecord]) -> Iterator[tuple[str, int, float]]:
    for dataset, model, seed, methods in runs_of(records, "gfm", "meuf-cubic"):
        if model == "pcc":  # of a model of single labels GFM is given independent labels
            gfm, meuf = (measured(methods[name], "instance_f") for name in ("gfm", "meuf-cubic"))
            yield dataset, seed, gfm - meuf


@claim(INFERRED_FROM_MODELS, unit=f"{POINTS}, − |variant − exact method|", margin=(-SIMILAR, SIMILAR_REASON))
def variants_as_good(records: Sequence[InferenceRecord]) -> Iterator[Effect]:
    """The simplified variants, GFM-T and approximate MEUF, perform like the exact methods.

    Take how far each variant is from the method that it simplifies.

    Source: Section 4, page 6; Figure 1
    """
    for variant, exact in VARIANTS.items():
        for dataset, model, seed, methods in runs_of(records, variant, exact):
            difference = measured(methods[variant], "instance_f") - measured(methods[exact], "instance_f")
            yield Effect(dataset, f"{model_title(model)}, {method_title(variant)}", seed, -abs(difference))


@claim(INFERRED_FROM_MODELS, unit="milliseconds per instance given samples, MEUF / GFM", scale="ratio", cost=True)
def gfm_faster(records: Sequence[InferenceRecord]) -> Iterator[Effect]:
    """GFM infers faster than MEUF by its published procedure.

    Compare the times of inference from the same samples.

    Source: Section 4, page 7; Table 1
    """
    for dataset, seed, _, ratio in _times_gfm(records):
        yield Effect(dataset, "", seed, ratio)


@claim(
    INFERRED_FROM_MODELS,
    unit="power of the number of labels that the ratio of times grows with, fitted over the datasets",
    cost=True,
)
def gfm_gains_with_labels(records: Sequence[InferenceRecord]) -> Iterator[Effect]:
    """The more labels there are, the more times as long as GFM does MEUF take.

    Fit a line to the logarithms of ratio and number of labels, of the datasets that a seed has.

    Source: Section 3, page 5 (complexities); Figure 1, right; Table 1
    """
    from xmlc.kernels.float64 import log

    found: dict[int, list[tuple[float, float]]] = {}
    for _, seed, labels, ratio in _times_gfm(records):
        found.setdefault(seed, []).append((log(float(labels)), log(ratio)))
    for seed, points in found.items():
        if len({x for x, _ in points}) > 1:
            yield Effect("all", "", seed, linear_regression(*zip(*points, strict=True)).slope)


def _times_gfm(records: Sequence[InferenceRecord]) -> Iterator[tuple[str, int, float, float]]:
    """Yield dataset, seed, number of labels, and how many times as long as GFM the published MEUF takes."""
    for dataset, model, seed, methods in runs_of(records, "gfm", "meuf-cubic"):
        gfm, meuf = (methods[name].costs.infer_ms_per_instance for name in ("gfm", "meuf-cubic"))
        if model == "pcc" and gfm and meuf:
            yield dataset, seed, methods["gfm"].dataset.m, meuf / gfm


@claim(SIMULATIONS, unit="points of expected F, MEUF − GFM, mean of the trials")
def meuf_best_of_independent(records: Sequence[SimulationRecord]) -> Iterator[Effect]:
    """Given samples of independent labels, MEUF has the highest F.

    Compare MEUF and GFM for each size of sample.

    Source: Section 4, page 6; Figure 1, left
    """
    return _by_sample_size(records, "independent", 1)


@claim(SIMULATIONS, unit="points of expected F, MEUF − GFM at the smallest sample less that at the largest")
def gfm_approaches_meuf(records: Sequence[SimulationRecord]) -> Iterator[Effect]:
    """With larger samples of independent labels GFM approaches MEUF.

    Compare what GFM lacks at both ends of the curve, whose samples are drawn one without the other.

    Source: Section 4, page 6; Figure 1, left
    """
    for record in records:
        gain = record.models["independent"]["meuf_minus_gfm"]
        (first, *_, last), (error, *_, other) = gain["mean"], gain["standard_error"]
        combined = math.sqrt(error * error + other * other)
        yield Effect("independent", "", record.seed, 100 * (first - last), 100 * combined, record.trials)


@claim(
    SIMULATIONS,
    unit="points of expected F, GFM − MEUF, mean of the trials",
    margin=(POOR, "poorly means a point or more"),
)
def meuf_poor_as_printed(records: Sequence[SimulationRecord]) -> Iterator[Effect]:
    """Given samples of dependent labels MEUF performs poorly, larger samples or not; in the model as printed.

    Compare GFM and MEUF in the model of the figure's caption.

    Source: Section 4, page 6; Figure 1, centre
    """
    return _by_sample_size(records, "dependent", -1)


@claim(
    SIMULATIONS,
    unit="points of expected F, GFM − MEUF, mean of the trials",
    margin=(POOR, "poorly means a point or more"),
)
def meuf_poor_with_signs(records: Sequence[SimulationRecord]) -> Iterator[Effect]:
    """The same in a model that the paper does not print: labels coded -1 and +1.

    Compare GFM and MEUF in the other model.

    Source: Section 4, page 6; Figure 1, centre, whose axis this model fits
    """
    return _by_sample_size(records, "dependent-signed", -1)


def _by_sample_size(records: Sequence[SimulationRecord], model: str, sign: int) -> Iterator[Effect]:
    """Yield MEUF minus GFM (``sign`` 1) or its opposite (-1) for each size of sample, with the trials behind it."""
    for record in records:
        gain = record.models[model]["meuf_minus_gfm"]
        for size, mean, error in zip(record.sample_sizes, gain["mean"], gain["standard_error"], strict=True):
            yield Effect(model, f"{size} samples", record.seed, 100 * sign * mean, 100 * error, record.trials)


CLAIMS = (
    inference_for_f_pays,
    h_has_the_least_hamming_loss,
    no_clear_winner,
    gfm_above_meuf,
    variants_as_good,
    gfm_faster,
    gfm_gains_with_labels,
    meuf_best_of_independent,
    gfm_approaches_meuf,
    meuf_poor_as_printed,
    meuf_poor_with_signs,
)
claims = claims_table(CLAIMS)
