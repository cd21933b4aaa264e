"""What gfm2011 says of its Figure 1, checked with what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xmlc.records.simulation import Claim, Growth, ModelScores, Scores

SIMILAR = 0.01  # two means that differ by less than one point of F
HUGE = 10  # times: an order of magnitude


def claims(models: Mapping[str, ModelScores], sample_sizes: Sequence[int]) -> list[Claim]:
    """Check what the paper says of Figure 1, left and centre, with what was measured.

    Parameters
    ----------
    models : mapping
        As `simulate` returns it.
    sample_sizes : sequence of int

    Returns
    -------
    list of Claim
        Differences of two methods are of the same samples.
    """
    first, last = sample_sizes[0], sample_sizes[-1]
    gain = models["independent"]["meuf_minus_gfm"]
    wins = sum(mean > 0 for mean in gain["mean"])
    average = float(np.mean(gain["mean"]))
    apart = {
        f"{a} and {b}": max(
            float(np.abs(np.subtract(model["methods"][a]["mean"], model["methods"][b]["mean"])).max())
            for model in models.values()
        )
        for a, b in (("gfm", "gfm-t"), ("meuf", "meuf-approx"))
    }
    return [
        {
            "claim": "independent labels: MEUF performs best",
            "measured": f"averaged over sample sizes it is {average:+.4f} above GFM, higher at {wins} of "
            f"{len(sample_sizes)}; {_measured(gain, 0)} with {first} samples, {_measured(gain, -1)} with {last}",
            "holds": average > 0,
        },
        {
            "claim": "independent labels: GFM approaches MEUF as the sample grows",
            "measured": f"MEUF minus GFM: {_measured(gain, 0)} with {first} samples, {_measured(gain, -1)} with {last}",
            "holds": abs(gain["mean"][-1]) < abs(gain["mean"][0]) / 2,
        },
        *(_meuf_is_poor(name, models[name], last) for name in models if name != "independent"),
        {
            "claim": "the approximate variants perform very similarly to the originals",
            "measured": "largest difference of means: " + "; ".join(f"{k} {value:.4f}" for k, value in apart.items()),
            "holds": max(apart.values()) < SIMILAR,
        },
    ]


def _meuf_is_poor(name: str, model: ModelScores, last: int) -> Claim:
    gain, limit = model["meuf_minus_gfm"], model["methods"]["meuf"]["limit"]
    return {
        "claim": f"{name} labels: MEUF performs poorly even for larger samples",
        "measured": f"MEUF minus GFM: {_measured(gain, -1)} with {last} samples; from the true marginals MEUF reaches "
        f"{limit:.4f}, the highest possible is {model['optimum']:.4f}",
        "holds": gain["mean"][-1] < -max(SIMILAR, 2 * gain["standard_error"][-1]),
    }


def _measured(gain: Scores, place: int) -> str:
    return f"{gain['mean'][place]:+.4f} (s.e. {gain['standard_error'][place]:.4f})"


def time_claim(growth: Growth) -> Claim:
    """Check what the paper says of Figure 1, right: GFM has a huge advantage over MEUF."""
    ratios, powers = [], ""
    for measured in (growth["samples"], growth["large"]):
        ms = {method: values[-1] for method, values in measured["ms"].items()}
        ratios.append(ms["meuf-cubic"] / ms["gfm"])
        powers += f"; fitted powers of m up to {measured['labels'][-1]} labels: " + ", ".join(
            f"{method} {power:.1f}" for method, power in measured["exponent"].items()
        )
    full = growth["full"]
    return {
        "claim": "GFM has a huge advantage over MEUF in time",
        "measured": f"the published MEUF takes {ratios[0]:.0f} times as long with {growth['samples']['labels'][-1]} "
        f"labels, {ratios[1]:.0f} times with {growth['large']['labels'][-1]}{powers}; GFM given a full P "
        f"{full['exponent']:.1f} up to {full['labels'][-1]}",
        "holds": ratios[0] > HUGE,
    }
