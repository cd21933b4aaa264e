"""What `compare_nearest` measured, as tables in Markdown that can be read in a terminal too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabulate import tabulate

from xmlc.bench.calibration import calibration_text

POINTS = 0.2  # of P@k, at most between the program and us
SPEED_UP = 1.8  # of two threads, at least
INDEX_BYTES = 6e9  # at most, for a dataset of Amazon-670K's shape
AMAZON = "amazon-670k"
MACHINE = """\
The paper's times were taken on another machine, an Intel Core i7-7700K: the calibration takes out by how much this
machine differs from the one that the calibration was first run on, and nothing of the difference to the paper's."""


def to_text(result: dict[str, Any]) -> str:
    """Return everything that was measured, as paragraphs and tables."""
    parts = [_head(result), _preparation(result), _asking(result)]
    if result["elsewhere"]:
        parts += [_elsewhere(result), _scaling(result)]
    return "\n\n".join([*parts, _claims(result)])


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]], n_texts: int = 1) -> str:
    align = ["left"] * n_texts + ["right"] * (len(headings) - n_texts)
    body = tabulate(rows, headings, tablefmt="pipe", disable_numparse=True, colalign=align)
    return f"**{title}**\n\n{body}"


def _head(result: dict[str, Any]) -> str:
    n, d, m = result["shape"]
    machine = result["passport"]
    return (
        f"{result['dataset']}: {result['n_train']} training instances, {n} test instances asked for, {d} features, "
        f"{m} labels; best of {result['rounds']} rounds in turns; {machine['cpu']}, xmlc {machine['xmlc']}, "
        f"numba {machine['numba']}, {machine['time']}; peak of the process {result['peak_bytes'] / 1e6:.0f} MB"
    )


def _preparation(result: dict[str, Any]) -> str:
    text = (
        f"Preparation {min(result['preparation_seconds']):.3f} s on 1 thread, index "
        f"{result['index_bytes'] / 1e6:.1f} MB with the label sets, whatever S, alpha and beta"
    )
    if result["preparation_elsewhere"] is None:
        return f"{text}."
    scaled = "scaled" if result["calibration"] else "not scaled"
    return f"{text}; the authors' program {result['preparation_elsewhere']:.3f} s, {scaled}."


def _setting(setting: dict[str, Any]) -> str:
    return ", ".join(f"{value:g}" for value in setting.values())


def _asking(result: dict[str, Any]) -> str:
    threads = result["threads"]
    rows = [
        [
            _setting(measured["setting"]),
            *(f"{min(turns):.4f}" for turns in measured["ms"].values()),
            f"{measured['speed_up']:.2f}",
            _answer(measured["differing_arrays"]),
            *(f"{100 * value:.2f}" for value in measured["p@k"]),
            f"{measured['similarities']:.0f}",
            f"{100 * measured['similarities_share']:.2f}",
        ]
        for measured in result["settings"]
    ]
    headings = ["S, alpha, beta", "ms, 1 thread", f"ms, {threads} threads", "speed-up", "same bits"]
    headings += ["P@1", "P@3", "P@5", "similarities", "% of training instances"]
    return _table("Best 5 labels, per test instance", headings, rows)


def _answer(differing: Sequence[str]) -> str:
    return f"no: {', '.join(differing)}" if differing else "yes"


def _elsewhere(result: dict[str, Any]) -> str:
    rows = [
        [
            row["whose"],
            _setting(row["setting"]),
            f"{row['ms']:g}",
            _or_empty(row["scaled_ms"], ".4f"),
            f"{row['our_ms']:.4f}",
            f"{row['ratio']:.3f}",
            _or_empty(row["asked"], "g"),
            *(f"{value:.1f}" for value in row["precision"] or ()),
            *[""] * (0 if row["precision"] else 3),
            _or_empty(row["difference"], ".2f"),
        ]
        for row in result["elsewhere"]
    ]
    headings = ["", "our S, alpha, beta", "ms elsewhere", "ms scaled", "our ms", "ratio", "asked: at most"]
    headings += ["their P@1", "P@3", "P@5", "largest difference"]
    return _table("Beside the times of others, 1 thread", headings, rows, n_texts=2)


def _or_empty(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _scaling(result: dict[str, Any]) -> str:
    if result["calibration"] is None:
        text = "Their times are as they were measured, not scaled to this machine: the ratios say little."
    else:
        text = f"Their times are {calibration_text(result['calibration'])}."
    return f"{text}\n{MACHINE}" if result["dataset"].startswith(AMAZON) else text


def _claims(result: dict[str, Any]) -> str:
    """Say of what is asked whether it was reached; ratios count only where times were scaled."""
    claims = []
    if result["calibration"]:
        for row in (row for row in result["elsewhere"] if row["asked"]):
            what = f"ratio to {row['whose']}, {_setting(row['setting'])}"
            claims.append((what, f"at most {row['asked']:g}", f"{row['ratio']:.3f}", row["ratio"] <= row["asked"]))
    for row in (row for row in result["elsewhere"] if row["difference"] is not None):
        within = row["difference"] <= POINTS + 1e-9
        what = f"P@k beside {row['whose']}, {_setting(row['setting'])}"
        claims.append((what, f"within {POINTS:g} point", f"{row['difference']:.2f}", within))
    for measured in result["settings"]:
        setting, reached = _setting(measured["setting"]), measured["speed_up"]
        claims.append((f"same bits on several threads, {setting}", "yes", "", not measured["differing_arrays"]))
        if result["threads"] == 2:
            claims.append((f"two threads, {setting}", f"at least {SPEED_UP:g}", f"{reached:.2f}", reached >= SPEED_UP))
    if result["dataset"].startswith(AMAZON):
        size = result["index_bytes"]
        claims.append(("index, GB", f"at most {INDEX_BYTES / 1e9:g}", f"{size / 1e9:.2f}", size <= INDEX_BYTES))
    rows = [[what, asked, reached, "yes" if holds else "no"] for what, asked, reached, holds in claims]
    return _table("What is asked", ["", "asked", "measured", "reached"], rows)
