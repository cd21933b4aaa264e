"""Statements of gfm2011, tested on our records; pages are the paper's, from 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from xmlc.suite.config.planned import INFERRED, SIMULATIONS
from xmlc.suite.papers.claims import Effect, by_method, claim, claims_table, together
from xmlc.suite.results.records.inference import InferenceRecord
from xmlc.suite.results.records.simulation import SimulationRecord

# By model, the methods for F that the paper's Table 1 has; MEUF as published is `meuf-cubic`.
FOR_F = {"pcc": ("gfm", "gfm-t", "meuf-approx", "meuf-cubic"), "br": ("meuf-approx", "meuf-cubic")}
POINTS = "points of F"
EXPECTED = "points of expected F, mean of the trials"
EQUAL = (-1.24, "the most by which the paper's Table 1 has one method behind another given one model (PCC on Scene)")
WORD = "a word for which the paper has no number is a point"

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


@claim(INFERRED, unit=f"{POINTS}, the lowest of the methods for F − H", stated="verbatim", every=True)
def inference_for_f_pays(records: Sequence[InferenceRecord]) -> Iterator[Effect]:
    """Every method that infers for F has a higher F than predicting the labels with a probability of at least 1/2
    (H).

    Compare the worst of the methods for F with H.

    Source: Section 4, page 7; Table 1
    """
    return _lowest_above_h(records, "instance_f")


@claim(INFERRED, unit="points of Hamming loss, the lowest of the methods for F − H", stated="verbatim")
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


@claim(INFERRED, unit=f"{POINTS}, the lowest method's − the highest's", stated="verbatim", margin=EQUAL)
def no_clear_winner(records: Sequence[InferenceRecord]) -> Iterator[Effect]:
    """None of the methods for F is clearly better than the others.

    Compare the worst with the best, given the same samples of a PCC; BR has but one of them and its variant.

    Source: Section 4, page 7; Table 1
    """
    for dataset, model, seed, methods in runs_of(records, "gfm", "meuf-cubic"):
        if model == "pcc":
            scores = [measured(methods[name], "instance_f") for name in FOR_F[model] if name in methods]
            yield Effect(dataset, "", seed, min(scores) - max(scores))


@claim(INFERRED, unit="inference times, MEUF / GFM", stated="verbatim", scale="ratio", cost=True)
def gfm_faster(records: Sequence[InferenceRecord]) -> Iterator[Effect]:
    """GFM infers faster than MEUF by its published procedure.

    Compare the times of inference from the same samples.

    Source: Section 4, page 7; Table 1
    """
    for dataset, model, seed, methods in runs_of(records, "gfm", "meuf-cubic"):
        gfm, meuf = (methods[name].costs.infer_ms_per_instance for name in ("gfm", "meuf-cubic"))
        if model == "pcc" and gfm and meuf:  # of a model of single labels GFM is given independent labels
            yield Effect(dataset, "", seed, meuf / gfm)


@claim(SIMULATIONS, unit=f"{EXPECTED}, MEUF − GFM", stated="verbatim")
def meuf_best_of_independent(records: Sequence[SimulationRecord]) -> Iterator[Effect]:
    """Given samples of independent labels, MEUF has the highest F.

    Compare MEUF and GFM in the mean over the sizes of samples.

    Source: Section 4, page 6; Figure 1, left
    """
    return _of_model(records, "independent", 1)


@claim(SIMULATIONS, unit=f"{EXPECTED}, MEUF − GFM at the smallest sample less that at the largest", stated="verbatim")
def gfm_approaches_meuf(records: Sequence[SimulationRecord]) -> Iterator[Effect]:
    """With larger samples of independent labels GFM approaches MEUF.

    Compare what GFM lacks at both ends of the curve, whose samples are drawn one without the other.

    Source: Section 4, page 6; Figure 1, left
    """
    for record in records:
        gain = record.models["independent"]["meuf_minus_gfm"]
        (first, *_, last), (error, *_, other) = gain["mean"], gain["standard_error"]
        yield _simulated(record, "independent", first - last, together(error, other))


@claim(SIMULATIONS, unit=f"{EXPECTED}, GFM − MEUF", stated="verbatim", margin=(1.0, WORD))
def meuf_poor_as_printed(records: Sequence[SimulationRecord]) -> Iterator[Effect]:
    """Given samples of dependent labels MEUF performs poorly, larger samples or not; in the model as printed.

    Compare GFM and MEUF in the model of the figure's caption, in the mean over the sizes of samples.

    Source: Section 4, page 6; Figure 1, centre
    """
    return _of_model(records, "dependent", -1)


@claim(SIMULATIONS, unit=f"{EXPECTED}, − |variant − exact method|", stated="verbatim", margin=(-1.0, WORD))
def variants_as_good(records: Sequence[SimulationRecord]) -> Iterator[Effect]:
    """The simplified variants, GFM-T and approximate MEUF, perform like the exact methods.

    Take how far each variant is from the method that it simplifies, in the mean over the sizes of samples; errors of
    both are taken for independent.

    Source: Section 4, page 6; Figure 1, left and centre
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


def _of_model(records: Sequence[SimulationRecord], model: str, sign: int) -> Iterator[Effect]:
    """Yield MEUF minus GFM (``sign`` 1) or its opposite (-1), over the sizes of samples, each drawn by itself."""
    for record in records:
        gain = record.models[model]["meuf_minus_gfm"]
        error = together(*gain["standard_error"]) / len(gain["mean"])
        yield _simulated(record, model, sign * fmean(gain["mean"]), error)


def _simulated(record: SimulationRecord, model: str, share: float, error: float) -> Effect:
    return Effect(model, "", record.seed, 100 * share, 100 * error, record.paired_trials or record.trials)


CLAIMS = (
    inference_for_f_pays,
    h_has_the_least_hamming_loss,
    no_clear_winner,
    gfm_faster,
    meuf_best_of_independent,
    gfm_approaches_meuf,
    meuf_poor_as_printed,
    variants_as_good,
)
claims = claims_table(CLAIMS)
