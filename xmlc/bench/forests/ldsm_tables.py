"""What `compare_ldsm` measured, as a table in Markdown that can be read in a terminal too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tabulate import tabulate

from xmlc.bench.calibration import calibration_text

TRAIN_RATIO = 0.4  # to the program's time for a tree, at most
POINTS = 0.5  # of P@k below the program's, at most
HEADINGS = ["", "training s", "top 5, ms", "P@1 %", "P@3 %", "P@5 %"]


def to_text(result: dict[str, Any]) -> str:
    """Return everything that was measured, and what of it was asked for."""
    n, d, m = result["shape"]
    machine, depths, nodes = result["passport"], result["depths"], result["nodes"]
    setting = ", ".join(f"{key} {value}" for key, value in result["setting"].items())
    head = (
        f"{result['dataset']}: {n} training instances, {d} features, {m} labels; {setting}; best of "
        f"{result['rounds']} rounds in turns, P@k the mean of {result['seeds']} seeds; {machine['cpu']}, xmlc "
        f"{machine['xmlc']}, numba {machine['numba']}, {machine['time']}; peak of the process "
        f"{result['peak_bytes'] / 1e6:.0f} MB"
    )
    rows = [row for run in result["runs"] for row in _rows(run, result["calibration"])]
    body = tabulate(rows, HEADINGS, tablefmt="pipe", disable_numparse=True, colalign=["left"] + ["right"] * 5)
    shape = (
        f"{len(depths)} trees: depth of the deepest {max(depths)}, on average {sum(depths) / len(depths):.1f}; "
        f"{sum(nodes) / len(nodes):.0f} nodes a tree; training on {result['threads']} threads is "
        f"{result['speedup']:.2f} times as fast"
    )
    parts = [head, body, shape]
    if result["calibration"]:
        parts.append(f"The program's times are {calibration_text(result['calibration'])}.")
    return "\n\n".join([*parts, *_claims(result["runs"])])


def _rows(run: dict[str, Any], calibration: dict[str, Any] | None) -> list[list[str]]:
    trees = f"{run['n_trees']} tree{'s' * (run['n_trees'] > 1)}"
    name = f"xmlc, {trees}, {run['threads']} thread{'s' * (run['threads'] > 1)}"
    rows = [[name, f"{run['train_seconds']:.2f}", f"{run['ms']:.4f}", *_scores(run["p@k"], run["p@k_std"])]]
    program = run["program"]
    if program is None:
        return rows
    times = (program["train_seconds"], program["predict_ms"])
    scaled = [time * calibration["scale"] for time in times] if calibration else times
    title = f"C++, {trees}, {'scaled' if calibration else 'not scaled'}"
    rows.append([title, f"{scaled[0]:.2f}", f"{scaled[1]:.4f}", *_scores(program["precision"])])
    if calibration:
        rows.append([f"ratio, {trees}", f"{run['train_ratio']:.3f}", f"{run['predict_ratio']:.3f}", "", "", ""])
    return rows


def _scores(values: Iterable[float] | None, deviations: Iterable[float] | None = None) -> list[str]:
    if values is None:
        return [""] * 3
    texts = [f"{value:.2f}" for value in values]
    if deviations is not None:
        texts = [f"{text} ± {deviation:.2f}" for text, deviation in zip(texts, deviations)]
    return texts + [""] * (3 - len(texts))


def _claims(runs: list[dict[str, Any]]) -> list[str]:
    """Say of what is asked whether it was reached; nothing where no run of the program is known."""
    claims = []
    for run in (run for run in runs if run["program"]):
        name = f"{run['n_trees']} tree{'s' * (run['n_trees'] > 1)}"
        if "train_ratio" in run:
            ratio = run["train_ratio"]
            claims.append((f"training, {name}", f"at most {TRAIN_RATIO:g}", f"{ratio:.3f}", ratio <= TRAIN_RATIO))
        least = min(run["difference"])
        claims.append((f"P@k, {name}, above the program", f"at least -{POINTS:g}", f"{least:+.2f}", least >= -POINTS))
    if not claims:
        return []
    rows = [[what, asked, found, "yes" if reached else "no"] for what, asked, found, reached in claims]
    return [tabulate(rows, ["", "asked", "found", "reached"], tablefmt="pipe", disable_numparse=True)]
