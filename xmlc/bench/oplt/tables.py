"""What the benchmarks of online label trees measured, as tables in Markdown that can be read in a terminal too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tabulate import tabulate

from xmlc.bench.oplt.variants import OURS, PROGRAM

TRAIN_RATIO = 0.15  # to napkinXC's time for an OPLT, at most
MEMORY_RATIO = 1.0
POINTS = 0.5  # of P@k below napkinXC's, at most
FACTOR = 2.0  # of time and memory to those when the tree is known, at most: a node has two classifiers at most
GROWTH = 2.0  # of the time for a classifier's update, last portion to second, at most
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


def stream_text(result: dict[str, Any]) -> str:
    """Return what `measure_stream` measured, and what of it was asked for."""
    machine = result["passport"]
    setting = ", ".join(f"{key} {value}" for key, value in result["hyperparameters"].items()) or "default settings"
    head = (
        f"a growing stream of {result['instances']} instances, {setting}; processor seconds of one thread; "
        f"{machine['cpu']}, xmlc {machine['xmlc']}, numba {machine['numba']}, {machine['time']}; peak of the process, "
        f"with all that is trained anew in it, {result['peak_bytes'] / 1e6:.0f} MB"
    )
    names = ("end", "labels", "features", "nodes", "depth")
    formats = {"seconds": ".2f", "us": ".1f", "updates": ".0f", "ns": ".2f"}
    rows = [
        [str(portion[name]) for name in names]
        + [f"{portion[name]:{form}}" for name, form in formats.items()]
        + [f"{portion['model_bytes'] / 1e6:.0f}"]
        for portion in result["portions"]
    ]
    headings = ["instances", "labels", "features", "nodes", "depth", "s", "µs each", "updates each"]
    body = _table(rows, [*headings, "ns per update and non-zero", "model MB"])
    anew = [_anew_row(prefix) for prefix in result["prefixes"]]
    headings = ["first instances", "s", "known tree, s", "ratio", "node by node, s", "MB", "known tree, MB", "ratio"]
    return "\n\n".join([head, body, _table(anew, headings), *claims_table(_stream_claims(result))])


def _anew_row(prefix: dict[str, Any]) -> list[str]:
    megabytes = [prefix[name] / 1e6 for name in ("model_bytes", "known_bytes")]
    times = [prefix[name] for name in ("seconds", "known_seconds")]
    return [
        str(prefix["end"]),
        *(f"{time:.2f}" for time in times),
        f"{times[0] / times[1]:.2f}",
        f"{prefix['node_seconds']:.2f}",
        *(f"{size:.0f}" for size in megabytes),
        f"{megabytes[0] / megabytes[1]:.2f}",
    ]


def _stream_claims(result: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
    portions, prefixes = result["portions"], result["prefixes"]
    growth = portions[-1]["ns"] / portions[min(1, len(portions) - 1)]["ns"]
    found = ", ".join(result["differing"]) or "none"
    claims = [
        ("an update, last portion to second", f"at most {GROWTH:g}", f"{growth:.2f}", growth <= GROWTH),
        ("arrays that differ after saving, loading and going on", "none", found, found == "none"),
    ]
    for name in ("known", "node"):
        found = ", ".join(sorted({array for prefix in prefixes for array in prefix[f"{name}_differing"]})) or "none"
        what = {"known": "the known tree", "node": "training node by node"}[name]
        claims.append((f"weights that differ from those of {what}", "none", found, found == "none"))
    for what, ours, known in (("time", "seconds", "known_seconds"), ("memory", "model_bytes", "known_bytes")):
        worst = max(prefix[ours] / prefix[known] for prefix in prefixes)
        claims.append((f"{what} to that of the known tree", f"at most {FACTOR:g}", f"{worst:.2f}", worst <= FACTOR))
    return claims


def classes_text(result: dict[str, Any]) -> str:
    """Return what `compare_classes` measured."""
    n, d, m = result["shape"]
    machine = result["passport"]
    head = (
        f"{result['dataset']}: {n} training instances, {d} features, {m} classes; accuracies the mean of "
        f"{result['seeds']} shuffles, costs the best of them; the constant predictor is right in "
        f"{100 * result['constant']:.2f} %; one thread; {machine['cpu']}, xmlc {machine['xmlc']}, numba "
        f"{machine['numba']}, {machine['time']}"
    )
    formats = {"progressive": ".2f", "reduction": ".2f", "test_online": ".2f", "cpu_online": ".2f"}
    formats |= {"test_several": ".2f", "cpu_several": ".2f", "ms": ".4f"}
    rows = [
        [name, *(f"{measured[key]:{form}}" for key, form in formats.items()), f"{measured['peak_bytes'] / 1e6:.0f}"]
        for name, measured in result["models"].items()
    ]
    headings = ["", "stream %", "bits", "then test %", "CPU s", "several passes, test %", "CPU s", "test, ms", "MB"]
    return "\n\n".join([head, _table(rows, headings)])


def claims_table(claims: list[tuple[str, str, str, bool]]) -> list[str]:
    """Say of what was asked, what was found and whether that reaches it; nothing if nothing was asked."""
    rows = [[what, asked, found, "yes" if reached else "no"] for what, asked, found, reached in claims]
    return [_table(rows, ["", "asked", "found", "reached"])] if rows else []


def _table(rows: Iterable[list[str]], headings: list[str]) -> str:
    align = ["left"] + ["right"] * (len(headings) - 1)
    return tabulate(rows, headings, tablefmt="pipe", disable_numparse=True, colalign=align)
