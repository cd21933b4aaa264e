"""What `compare_inference` measured, as tables in Markdown that can be read in a terminal too."""

from __future__ import annotations

from typing import Any

from tabulate import tabulate

from xmlc.bench.inference.comparison import METHODS
from xmlc.inference.growth import TIMED

GOAL = 20.0  # how many times as fast as the published MEUF GFM is asked to be, on this machine and data


def to_text(result: dict[str, Any]) -> str:
    """Return everything that was measured, as paragraphs and tables."""
    parts = [_head(result), _methods(result), _ratio(result), _limit(result)]
    if result["growth"]:
        parts += [_growth(result["growth"], part) for part in ("samples", "large")] + [_full(result["growth"])]
    return "\n\n".join(parts)


def _table(title: str, headings: list[str], rows: list[list[str]]) -> str:
    align = ["left"] + ["right"] * (len(headings) - 1)
    return f"**{title}**\n\n" + tabulate(rows, headings, tablefmt="pipe", disable_numparse=True, colalign=align)


def _head(result: dict[str, Any]) -> str:
    n, m = result["shape"]
    machine = result["passport"]
    return (
        f"{result['dataset']}: {n} test instances, {m} labels, {result['n_samples']} samples for each (drawn in "
        f"{result['sampling_seconds']:.2f} s, in no time below); {_threads(result['threads'])}, best of "
        f"{result['rounds']} rounds in turns; {machine['cpu']}, xmlc {machine['xmlc']}, numba {machine['numba']}, "
        f"{machine['time']}; peak of the process {result['peak_bytes'] / 1e6:.0f} MB"
    )


def _threads(n: int) -> str:
    return f"{n} thread{'s' * (n != 1)}"


def _methods(result: dict[str, Any]) -> str:
    rows = [
        [
            name,
            f"{min(result['methods'][name]['seconds']):.4f}",
            f"{result['methods'][name]['ms']:.5f}",
            f"{result['ratios'][name]:.2f}",
            f"{100 * result['methods'][name]['instance_f']:.2f}",
        ]
        for name in METHODS
    ]
    return _table("Inference from samples", ["", "seconds", "ms per instance", "times GFM", "instance-F (%)"], rows)


def _ratio(result: dict[str, Any]) -> str:
    ratio = result["ratios"]["meuf-cubic"]
    verdict = "yes" if ratio >= GOAL else "no"
    return f"GFM is {ratio:.1f} times as fast as MEUF by the published procedure; asked for: {GOAL:.0f}: {verdict}."


def _limit(result: dict[str, Any]) -> str:
    work, limit, ms = result["work"], result["limit"], result["methods"]["gfm"]["ms"]
    return (
        f"Per instance GFM counts {work['ones']:.0f} ones of the sample ({work['bytes'] / 1e3:.1f} kB), of "
        f"{work['labels_drawn']:.1f} labels and {work['distinct_sizes']:.1f} sizes, and adds "
        f"{work['multiply_adds']:.0f} products for {work['columns']:.1f} columns of F. This machine needs "
        f"{limit['count_ns']:.2f} ns for a one and {limit['multiply_add_ns']:.3f} ns for a product at the least, "
        f"{limit['ms']:.5f} ms together; GFM takes {ms / (limit['ms'] or 1):.1f} times as long on "
        f"{_threads(result['threads'])}."
    )


def _growth(growth: dict[str, Any], part: str) -> str:
    samples = growth[part]
    rows = [[name, *(f"{ms:.5f}" for ms in samples["ms"][name]), f"{samples['exponent'][name]:.2f}"] for name in TIMED]
    rows += [
        [title, *(f"{value:.1f}" for value in samples[key]), ""]
        for title, key in (("distinct sizes", "distinct_sizes"), ("labels drawn", "labels_drawn"))
    ]
    title = (
        f"ms per instance from {samples['n_samples']} samples of independent labels, {samples['instances']} "
        f"instances, {_threads(growth['threads'])}, and the power of m fitted to the upper half"
    )
    return _table(title, ["m", *map(str, samples["labels"]), "power"], rows)


def _full(growth: dict[str, Any]) -> str:
    full = growth["full"]
    rows = [["gfm", *(f"{ms:.4f}" for ms in full["ms"]), f"{full['exponent']:.2f}"]]
    return _table("ms of GFM given a P with mass on every size", ["m", *map(str, full["labels"]), "power"], rows)
