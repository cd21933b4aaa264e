"""What the benchmarks of online label trees measured, as tables in Markdown that can be read in a terminal too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tabulate import tabulate

from xmlc.bench.oplt import OURS, PROGRAM

TRAIN_RATIO = 0.15  # to napkinXC's time for an OPLT, at most
MEMORY_RATIO = 1.0
POINTS = 0.5  # of P@k below napkinXC's, at most
ONLINE = ("OPLT-R", "OPLT-B", "OPLT-W")


def comparison_text(result: dict[str, Any]) -> str:
    """Return what `compare_oplt` measured, and what of it was asked for."""
    n, d, m = result["shape"]
    machine = result["passport"]
    head = (
        f"{result['dataset']}: {n} training instances, {d} features, {m} labels; passes: {result['epochs']}; P@k the "
        f"mean of {result['seeds']} shuffles, times and memory the best of them; one thread, a process for each "
        f"training; {machine['cpu']}, xmlc {machine['xmlc']}, numba {machine['numba']}, {machine['time']}"
    )
    rows = []
    for variant, measured in result["variants"].items():
        rows += [_row(variant, program, measured[program]) for program in (OURS, PROGRAM) if program in measured]
        if "ratios" in measured:
            ratios = [f"{measured['ratios'][name]:.3f}" for name in ("seconds", "cpu_seconds", "peak_bytes")]
            rows.append([f"{variant}, ratio", *ratios, "", *(f"{value:+.2f}" for value in measured["difference"])])
    body = _table(rows, ["", "training s", "CPU s", "memory MB", "top 5, ms", "P@1 %", "P@3 %", "P@5 %"])
    claims = _comparison_claims(result["variants"])
    return "\n\n".join([head, body, *claims])


def _row(variant: str, program: str, measured: dict[str, Any]) -> list[str]:
    scores = [f"{value:.2f}" for value in measured["p@k"]]
    if measured["p@k_std"] is not None:
        scores = [f"{score} ± {deviation:.2f}" for score, deviation in zip(scores, measured["p@k_std"])]
    seconds = [f"{measured[name]:.2f}" for name in ("seconds", "cpu_seconds")]
    return [f"{variant}, {program}", *seconds, f"{measured['peak_bytes'] / 1e6:.0f}", f"{measured['ms']:.3f}", *scores]


def _comparison_claims(variants: dict[str, Any]) -> list[str]:
    claims = []
    for variant, measured in variants.items():
        if "ratios" not in measured:
            continue
        ratios, least = measured["ratios"], min(measured["difference"])
        if variant in ONLINE:
            found = ratios["seconds"]
            claims.append((f"{variant}: training", f"at most {TRAIN_RATIO:g}", f"{found:.3f}", found <= TRAIN_RATIO))
            found = ratios["peak_bytes"]
            claims.append((f"{variant}: memory", f"at most {MEMORY_RATIO:g}", f"{found:.2f}", found <= MEMORY_RATIO))
        claims.append((f"{variant}: P@k above napkinXC's", f"at least -{POINTS:g}", f"{least:+.2f}", least >= -POINTS))
    return claims_table(claims)


def claims_table(claims: list[tuple[str, str, str, bool]]) -> list[str]:
    """Say of what was asked, what was found and whether that reaches it; nothing if nothing was asked."""
    rows = [[what, asked, found, "yes" if reached else "no"] for what, asked, found, reached in claims]
    return [_table(rows, ["", "asked", "found", "reached"])] if rows else []


def _table(rows: Iterable[list[str]], headings: list[str]) -> str:
    align = ["left"] + ["right"] * (len(headings) - 1)
    return tabulate(rows, headings, tablefmt="pipe", disable_numparse=True, colalign=align)
