"""What `compare_ldsm` measured, as a table in Markdown that can be read in a terminal too."""

from __future__ import annotations

from collections.abc import Iterable

from xmlc.bench.calibration import Calibration
from xmlc.bench.forests.ldsm import Ensembles, ForestRun
from xmlc.bench.text import Claim, claims_table, counted, shape_text, table, turns_text, with_deviations

TRAIN_RATIO = 0.4  # to the program's time for a tree, at most
POINTS = 0.5  # of P@k below the program's, at most
HEADINGS = ["", "training s", "top 5, ms", "P@1 %", "P@3 %", "P@5 %"]


def to_text(result: Ensembles) -> str:
    """Return everything that was measured, and what of it was asked for."""
    depths, nodes = result.depths, result.nodes
    setting = ", ".join(f"{key} {value}" for key, value in result.setting.items())
    turns = turns_text(result, f", P@k the mean of {result.seeds} seeds")
    rows = [row for run in result.runs for row in _rows(run, result.calibration)]
    shape = (
        f"{len(depths)} trees: depth of the deepest {max(depths)}, on average {sum(depths) / len(depths):.1f}; "
        f"{sum(nodes) / len(nodes):.0f} nodes a tree; training on {result.threads} threads is "
        f"{result.speedup:.2f} times as fast"
    )
    parts = [f"{result.dataset}: {shape_text(result.shape)}; {setting}; {turns}", table(HEADINGS, rows), shape]
    if result.calibration:
        parts.append(f"The program's times are {result.calibration.text}.")
    return "\n\n".join([*parts, *claims_table(_claims(result.runs), n_texts=4)])


def _rows(run: ForestRun, calibration: Calibration | None) -> list[list[str]]:
    trees, program = counted(run.n_trees, "tree"), run.program
    name = f"xmlc, {trees}, {counted(run.threads, 'thread')}"
    scores = _scores(run.precision, run.precision_std)
    rows = [[name, f"{run.train_seconds:.2f}", f"{run.ms:.4f}", *scores]]
    if program is None:
        return rows
    here = program.scaled(calibration) if calibration else program
    title = f"C++, {trees}, {'scaled' if calibration else 'not scaled'}"
    rows.append([title, f"{here.train_seconds:.2f}", f"{here.predict_ms:.4f}", *_scores(program.precision)])
    if run.ratios:
        ratios = [f"{run.ratios.train_ratio:.3f}", f"{run.ratios.predict_ratio:.3f}"]
        rows.append([f"ratio, {trees}", *ratios, "", "", ""])
    return rows


def _scores(values: Iterable[float] | None, deviations: Iterable[float] | None = None) -> list[str]:
    texts = [] if values is None else with_deviations(values, deviations)
    return texts + [""] * (3 - len(texts))


def _claims(runs: list[ForestRun]) -> list[Claim]:
    """Say of what is asked whether it was reached; nothing where no run of the program is known."""
    claims = []
    for run in runs:
        if run.difference is None:
            continue
        name, least = counted(run.n_trees, "tree"), min(run.difference)
        if run.ratios:
            ratio = run.ratios.train_ratio
            claims.append(Claim(f"training, {name}", f"at most {TRAIN_RATIO:g}", f"{ratio:.3f}", ratio <= TRAIN_RATIO))
        what = f"P@k, {name}, above the program"
        claims.append(Claim(what, f"at least -{POINTS:g}", f"{least:+.2f}", least >= -POINTS))
    return claims
