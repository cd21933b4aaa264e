"""What `compare_nearest` measured, as tables in Markdown that can be read in a terminal too."""

from __future__ import annotations

from dataclasses import astuple

from xmlc.bench.nearest.comparison import BesideOthers, Neighbours
from xmlc.bench.nearest.elsewhere import Setting
from xmlc.bench.text import Claim, claims_table, same_bits, table, turns_text

POINTS = 0.2  # of P@k, at most between the program and us
SPEED_UP = 1.8  # of two threads, at least
INDEX_BYTES = 6e9  # at most, for a dataset of Amazon-670K's shape
AMAZON = "amazon-670k"
MACHINE = """\
The paper's times were taken on another machine, an Intel Core i7-7700K: the calibration takes out by how much this
machine differs from the one that the calibration was first run on, and nothing of the difference to the paper's."""


def to_text(result: Neighbours) -> str:
    """Return everything that was measured, as paragraphs and tables."""
    parts = [_head(result), _preparation(result), _asking(result)]
    if result.elsewhere:
        parts += [_elsewhere(result), _scaling(result)]
    claims = [*_claims_beside_others(result), *_claims_of_ours(result)]
    return "\n\n".join([*parts, *claims_table(claims, "measured", "What is asked")])


def _head(result: Neighbours) -> str:
    n, d, m = result.shape
    return (
        f"{result.dataset}: {result.n_train} training instances, {n} test instances asked for, {d} features, "
        f"{m} labels; {turns_text(result)}"
    )


def _preparation(result: Neighbours) -> str:
    text = (
        f"Preparation {min(result.preparation_seconds):.3f} s on 1 thread, index "
        f"{result.index_bytes / 1e6:.1f} MB with the label sets, whatever S, alpha and beta"
    )
    if result.preparation_elsewhere is None:
        return f"{text}."
    scaled = "scaled" if result.calibration else "not scaled"
    return f"{text}; the authors' program {result.preparation_elsewhere:.3f} s, {scaled}."


def _setting(setting: Setting | None) -> str:
    return ", ".join(f"{value:g}" for value in astuple(setting)) if setting else ""


def _asking(result: Neighbours) -> str:
    rows = [
        [
            _setting(measured.setting),
            *(f"{min(turns):.4f}" for turns in measured.ms.values()),
            f"{measured.speed_up:.2f}",
            same_bits(measured.differing_arrays),
            *(f"{100 * value:.2f}" for value in measured.precision),
            f"{measured.similarities:.0f}",
            f"{100 * measured.similarities_share:.2f}",
        ]
        for measured in result.settings
    ]
    headings = ["S, alpha, beta", "ms, 1 thread", f"ms, {result.threads} threads", "speed-up", "same bits"]
    headings += ["P@1", "P@3", "P@5", "similarities", "% of training instances"]
    return table(headings, rows, "Best 5 labels, per test instance")


def _elsewhere(result: Neighbours) -> str:
    rows = [
        [
            row.known.whose,
            _setting(row.known.setting),
            f"{row.known.ms:g}",
            _or_empty(row.scaled_ms, ".4f"),
            f"{row.our_ms:.4f}",
            f"{row.ratio:.3f}",
            _or_empty(row.known.asked, "g"),
            *(_or_empty(value, ".1f") for value in row.known.precision or [None] * 3),
            _or_empty(row.difference, ".2f"),
        ]
        for row in result.elsewhere
    ]
    headings = ["", "our S, alpha, beta", "ms elsewhere", "ms scaled", "our ms", "ratio", "asked: at most"]
    headings += ["their P@1", "P@3", "P@5", "largest difference"]
    return table(headings, rows, "Beside the times of others, 1 thread", n_texts=2)


def _or_empty(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _scaling(result: Neighbours) -> str:
    if result.calibration is None:
        text = "Their times are as they were measured, not scaled to this machine: the ratios say little."
    else:
        text = f"Their times are {result.calibration.text}."
    return f"{text}\n{MACHINE}" if result.dataset.startswith(AMAZON) else text


def _claims_beside_others(result: Neighbours) -> list[Claim]:
    """Ask for the ratios, which count only where times were scaled, and for the ranking of others."""
    claims = [_ratio_claim(row, row.known.asked) for row in result.elsewhere if result.calibration and row.known.asked]
    for row in result.elsewhere:
        if row.difference is not None:
            what = f"P@k beside {row.known.whose}, {_setting(row.known.setting)}"
            within = row.difference <= POINTS + 1e-9
            claims.append(Claim(what, f"within {POINTS:g} point", f"{row.difference:.2f}", within))
    return claims


def _ratio_claim(row: BesideOthers, asked: float) -> Claim:
    what = f"ratio to {row.known.whose}, {_setting(row.known.setting)}"
    return Claim(what, f"at most {asked:g}", f"{row.ratio:.3f}", row.ratio <= asked)


def _claims_of_ours(result: Neighbours) -> list[Claim]:
    """Ask for the same bits and for speed on two threads, and for the size of the index for Amazon-670K."""
    claims = []
    for measured in result.settings:
        setting, reached = _setting(measured.setting), measured.speed_up
        claims.append(Claim(f"same bits on several threads, {setting}", "yes", "", not measured.differing_arrays))
        if result.threads == 2:
            asked = f"at least {SPEED_UP:g}"
            claims.append(Claim(f"two threads, {setting}", asked, f"{reached:.2f}", reached >= SPEED_UP))
    if result.dataset.startswith(AMAZON):
        size = result.index_bytes
        claims.append(Claim("index, GB", f"at most {INDEX_BYTES / 1e9:g}", f"{size / 1e9:.2f}", size <= INDEX_BYTES))
    return claims
