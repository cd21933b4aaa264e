"""Test the statements of gfm2011, whose page 1 is the paper's first."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

import pandas as pd

from xmlc.suite.papers.effects import about, common, parts, ratio, scores, union
from xmlc.suite.papers.outcome import Effect, together

# Methods that optimise F in Table 1, by model. The published MEUF is `meuf-cubic`.
FOR_F = {"pcc": ("gfm", "gfm-t", "meuf-approx", "meuf-cubic"), "br": ("meuf-approx", "meuf-cubic")}
RUN = ["dataset", "seed"]
Simulated = Iterator[tuple[int, pd.DataFrame]]  # Seeds, and scores by sample size


def inference_for_f_pays(numbers: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Compare F or the Hamming loss of H with the lowest of the methods that optimise F."""
    effects = []
    for model, methods in FOR_F.items():
        lowest = scores(numbers, metric, model=model, method=methods).groupby(level=RUN).min()
        effects.append(about(lowest - scores(numbers, metric, model=model, method="h"), model))
    return union(*effects)


def no_clear_winner(numbers: pd.DataFrame) -> pd.DataFrame:
    """Compare the worst and the best of the methods that optimise F, on the same samples of a PCC.

    BR is left out, because its only methods that optimise F are MEUF and a variant of it.
    """
    gfm = scores(numbers, "instance_f", model="pcc", method="gfm")
    meuf = scores(numbers, "instance_f", model="pcc", method="meuf-cubic")
    of_methods = scores(numbers, "instance_f", model="pcc", method=FOR_F["pcc"])
    of_run = of_methods.groupby(level=RUN)
    apart, *_ = common(of_run.min() - of_run.max(), gfm, meuf)
    return apart


def gfm_faster(numbers: pd.DataFrame) -> pd.DataFrame:
    """Compare the times of GFM and MEUF on the same samples of a PCC, because GFM assumes
    independent labels for other models.
    """
    gfm = scores(numbers, "infer_ms", model="pcc", method="gfm")
    meuf = scores(numbers, "infer_ms", model="pcc", method="meuf-cubic")
    return ratio(meuf, gfm)


def _simulated(numbers: pd.DataFrame, model: str, method: str) -> Simulated:
    columns = ("samples", "expected_f", "standard_error", "trials")
    rows = parts(numbers, f"{model}, {method}, ", *columns).sort_values("samples")
    yield from rows.groupby(level="seed")


def _mean_error(*errors: pd.Series) -> float:
    """Return the standard error of a mean over independent sample sizes."""
    return together(*pd.concat(errors)) / len(errors[0])


def difference_in_f(numbers: pd.DataFrame, model: str, sign: int) -> Iterator[Effect]:
    """Return MEUF minus GFM, times ``sign``, in mean F-measure over the sample sizes."""
    for seed, gain in _simulated(numbers, model, "meuf - gfm"):
        mean = sign * fmean(gain["expected_f"])
        error = _mean_error(gain["standard_error"])
        yield Effect(model, "", seed, mean, error, int(gain["trials"].iloc[0]))


def gfm_approaches_meuf(numbers: pd.DataFrame) -> Iterator[Effect]:
    """Compare MEUF minus GFM on the smallest and the largest samples, drawn independently."""
    for seed, gain in _simulated(numbers, "independent", "meuf - gfm"):
        first = gain.iloc[0]
        last = gain.iloc[-1]
        apart = first["expected_f"] - last["expected_f"]
        error = together(first["standard_error"], last["standard_error"])
        yield Effect("independent", "", seed, apart, error, int(last["trials"]))


def variants_as_good(numbers: pd.DataFrame) -> Iterator[Effect]:
    """Measure the mean distance between each method and its simplified variant, with errors treated
    as independent.
    """
    for model in ("independent", "dependent"):
        for variant, exact in (("gfm-t", "gfm"), ("meuf-approx", "meuf")):
            originals = dict(_simulated(numbers, model, exact))
            for seed, simplified in _simulated(numbers, model, variant):
                original = originals[seed]
                f = simplified["expected_f"].to_numpy()
                apart = fmean(abs(f - original["expected_f"].to_numpy()))
                error = _mean_error(simplified["standard_error"], original["standard_error"])
                yield Effect(model, variant, seed, -apart, error, int(original["trials"].iloc[0]))
