"""What `compare_logistic` measured, as lines and tables in Markdown."""

from __future__ import annotations

from xmlc.bench.logistic.comparison import PEER, Logistic, ours_on
from xmlc.bench.logistic.peer import ROUGH_TOLERANCE, TOLERANCE
from xmlc.bench.text import Claim, shape_text, turns_text

ASKED = 5.0  # times as fast as scikit-learn, at least
CLOSE = 1e-6  # of probabilities, at most


def to_text(result: Logistic) -> str:
    """Return everything that was measured, as lines and a table in Markdown."""
    return "\n".join(
        [
            f"{result.dataset}, {result.estimator}: {shape_text(result.shape)}; C by cross-validation, then all "
            f"labels; {turns_text(result)}",
            "",
            f"| training | seconds | {PEER}'s / these | CPU seconds | {PEER}'s / these |",
            "|:---|---:|---:|---:|---:|",
            *_rows(result),
            "",
            *_remarks(result),
            "",
            "| | asked | measured | reached |",
            "|:---|:---|:---|:---|",
            *(f"| {' | '.join(claim.cells)} |" for claim in _claims(result)),
        ]
    )


def _rows(result: Logistic) -> list[str]:
    best = {name: min(turns) for name, turns in result.seconds.items()}
    cpu = {name: min(spent) for name, spent in result.cpu_seconds.items()}
    return [
        f"| {name} | {best[name]:.2f} | {best[PEER] / best[name]:.1f} | {cpu[name]:.2f} | {cpu[PEER] / cpu[name]:.1f} |"
        for name in best
    ]


def _remarks(result: Logistic) -> list[str]:
    limit, differing = result.limit, ", ".join(result.differing_arrays)
    speed_up = min(result.seconds[ours_on(1)]) / min(result.seconds[ours_on(result.threads)])
    same = f"other bits: {differing}" if differing else "the same bits"
    return [
        f"{PEER}: L-BFGS with tolerance {ROUGH_TOLERANCE:g} for the choice of C and {TOLERANCE:g} after it, one "
        f"thread, as it was used before. {result.threads} threads: {speed_up:.2f} times as fast as one, {same}.",
        f"C = {result.C:g}, {'as' if result.same_C else 'unlike'} by {PEER}'s losses. Largest squared Newton decrement "
        f"relative to the objective: {result.decrement:.1e}.",
        f"BR's path of C on all instances takes {limit.passes} passes over the matrix. A non-zero takes "
        f"{limit.ns:.2f} ns in a pass, for both products with eight labels; only to read it takes "
        f"{limit.read_ns:.2f} ns.",
    ]


def _claims(result: Logistic) -> list[Claim]:
    ratio, difference = result.ratio, result.difference
    return [
        Claim(f"times as fast as {PEER}", f"at least {ASKED:g}", f"{ratio:.1f}", ratio >= ASKED),
        Claim("largest difference of probabilities", f"at most {CLOSE:g}", f"{difference:.1e}", difference <= CLOSE),
        Claim("same bits on several threads", "yes", "", not result.differing_arrays),
    ]
