"""What `compare_inference` measured, as tables in Markdown that can be read in a terminal too."""

from __future__ import annotations

from xmlc.bench.inference.comparison import Inference
from xmlc.bench.text import counted, table, turns_text, yes_or_no
from xmlc.inference.growth import TIMED
from xmlc.records.simulation import GrowthFromFull, GrowthFromSamples

GOAL = 20.0  # how many times as fast as the published MEUF GFM is asked to be, on this machine and data


def to_text(result: Inference) -> str:
    """Return everything that was measured, as paragraphs and tables."""
    parts = [_head(result), _methods(result), _ratio(result), _limit(result)]
    if result.growth:
        threads = result.growth["threads"]
        parts += [_growth(samples, threads) for samples in (result.growth["samples"], result.growth["large"])]
        parts.append(_full(result.growth["full"]))
    return "\n\n".join(parts)


def _head(result: Inference) -> str:
    n, m = result.shape
    return (
        f"{result.dataset}: {n} test instances, {m} labels, {result.n_samples} samples for each (drawn in "
        f"{result.sampling_seconds:.2f} s, in no time below); {counted(result.threads, 'thread')}, {turns_text(result)}"
    )


def _methods(result: Inference) -> str:
    rows = [
        [
            name,
            f"{min(measured.seconds):.4f}",
            f"{measured.ms:.5f}",
            f"{result.ratios[name]:.2f}",
            f"{100 * measured.instance_f:.2f}",
        ]
        for name, measured in result.methods.items()
    ]
    return table(["", "seconds", "ms per instance", "times GFM", "instance-F (%)"], rows, "Inference from samples")


def _ratio(result: Inference) -> str:
    ratio = result.ratios["meuf-cubic"]
    return (
        f"GFM is {ratio:.1f} times as fast as MEUF by the published procedure; asked for: {GOAL:.0f}: "
        f"{yes_or_no(ratio >= GOAL)}."
    )


def _limit(result: Inference) -> str:
    work, limit, ms = result.work, result.limit, result.methods["gfm"].ms
    return (
        f"Per instance GFM counts {work.ones:.0f} ones of the sample ({work.bytes / 1e3:.1f} kB), of "
        f"{work.labels_drawn:.1f} labels and {work.distinct_sizes:.1f} sizes, and adds "
        f"{work.multiply_adds:.0f} products for {work.columns:.1f} columns of F. This machine needs "
        f"{limit.count_ns:.2f} ns for a one and {limit.multiply_add_ns:.3f} ns for a product at the least, "
        f"{limit.ms:.5f} ms together; GFM takes {ms / (limit.ms or 1):.1f} times as long on "
        f"{counted(result.threads, 'thread')}."
    )


def _growth(samples: GrowthFromSamples, threads: int) -> str:
    rows = [[name, *(f"{ms:.5f}" for ms in samples["ms"][name]), f"{samples['exponent'][name]:.2f}"] for name in TIMED]
    counts = {"distinct sizes": samples["distinct_sizes"], "labels drawn": samples["labels_drawn"]}
    rows += [[title, *(f"{value:.1f}" for value in values), ""] for title, values in counts.items()]
    title = (
        f"ms per instance from {samples['n_samples']} samples of independent labels, {samples['instances']} "
        f"instances, {counted(threads, 'thread')}, and the power of m fitted to the upper half"
    )
    return table(["m", *map(str, samples["labels"]), "power"], rows, title)


def _full(full: GrowthFromFull) -> str:
    rows = [["gfm", *(f"{ms:.4f}" for ms in full["ms"]), f"{full['exponent']:.2f}"]]
    return table(["m", *map(str, full["labels"]), "power"], rows, "ms of GFM given a P with mass on every size")
