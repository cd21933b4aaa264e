"""What `compare_plt` measured, as tables in Markdown that can be read in a terminal too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tabulate import tabulate

from xmlc.bench.plt.comparison import (
    NAPKINXC_ADAGRAD,
    NAPKINXC_LIBLINEAR,
    OMIKUJI,
    OMIKUJI_DENSE,
    SEARCHES,
    best,
    name_of,
)
from xmlc.bench.plt.cost import PHASE_NAMES

LIMIT_OF = {"adagrad": "read, AdaGrad", "batch": "read, add"}  # what a pass of each solver does at the least
GOALS = {  # what this suite asks of itself, by dataset: ratios of time
    "tib-core-26k": {
        ("training", f"{name_of('adagrad', 1)} / {NAPKINXC_ADAGRAD}"): 0.15,
        ("training", f"{name_of('batch', 1)} / {OMIKUJI}"): 0.5,
        ("prediction", f"{name_of('batch', 1, 'beam 10')} / {OMIKUJI}"): 0.03,
        ("prediction", f"{name_of('batch', 1, 'beam 10')} / {OMIKUJI_DENSE}"): 0.03,
    },
    "delicious": {
        ("training", f"{name_of('adagrad', 1)} / {NAPKINXC_ADAGRAD}"): 0.4,
        ("training", f"{name_of('batch', 1)} / {NAPKINXC_LIBLINEAR}"): 0.3,
        ("prediction", f"{name_of('batch', 1, 'exact')} / {NAPKINXC_LIBLINEAR}"): 1,
    },
}
PLACES = ("cached", "blocks", "DRAM")
LIMITS = """\
The limit is measured by kernels that touch a row of siblings for each non-zero of the training set, block by block, and
compute nothing that could be left out: with rows that fit the first cache, with blocks of the sizes of this data, and
with rows scattered over half a gigabyte. The solver "batch" leaves alone siblings that need no step, and stores no
weights below its cut, so that it may need less."""


def to_text(result: dict[str, Any]) -> str:
    """Return everything that was measured, as paragraphs and tables."""
    parts = [_head(result), _contenders(result)]
    if result["ratios"]:
        parts.append(_ratios(result))
    return "\n\n".join([*parts, _threads(result), _latency(result), _phases(result), _pairs(result), LIMITS])


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    align = ["left"] + ["right"] * (len(headings) - 1)
    body = tabulate(rows, headings, tablefmt="pipe", disable_numparse=True, colalign=align)
    return f"**{title}**\n\n{body}"


def _head(result: dict[str, Any]) -> str:
    n, d, m = result["shape"]
    machine = result["passport"]
    settings = "\n".join(
        f"- {solver}: " + ", ".join(f"{key}={value!r}" for key, value in values.items())
        for solver, values in result["settings"].items()
    )
    return (
        f"{result['dataset']}: {n} instances to train on, {d} features, {m} labels; best of {result['rounds']} rounds "
        f"in turns; {machine['cpu']}, xmlc {machine['xmlc']}, numba {machine['numba']}, {machine['time']}; peak of the "
        f"process {result['peak_bytes'] / 1e6:.0f} MB\n\n{settings}"
    )


def _percents(measured: dict[str, Any]) -> list[str]:
    return [f"{100 * value:.2f}" for value in measured["p@k"]]


def _contenders(result: dict[str, Any]) -> str:
    measures = ["P@1", "P@3", "P@5"]
    training = [[name, f"{best(measured):.3f}", *_percents(measured)] for name, measured in result["training"].items()]
    prediction = [
        [name, f"{best(measured):.4f}", *_percents(measured)] for name, measured in result["prediction"].items()
    ]
    text = (
        _table("Training, tree included; peers on 1 thread", ["", "seconds", *measures], training)
        + "\n\n"
        + _table("Prediction of the best 5; peers on 1 thread", ["", "ms per instance", *measures], prediction)
    )
    if result["conversion"]:
        written, converted = result["conversion"]["train_seconds"], result["conversion"]["predict_ms"]
        text += (
            f"\n\nOf {OMIKUJI}: {written:.2f} s of the training is writing the file that it reads, and "
            f"{converted:.4f} ms of the prediction is turning instances into its types."
        )
    return text


def _ratios(result: dict[str, Any]) -> str:
    goals = GOALS.get(result["dataset"], {})
    rows = [
        [what, pair, f"{ratio:.4f}", str(goals.get((what, pair), ""))]
        for what, pairs in result["ratios"].items()
        for pair, ratio in pairs.items()
    ]
    return _table("Ratios of time on 1 thread", ["", "ours / peer", "ratio", "asked: at most"], rows)


def _threads(result: dict[str, Any]) -> str:
    rows = [
        [solver, *(f"{measured[what]:.2f}" for what in ("training", *SEARCHES)), _answer(measured["differing_arrays"])]
        for solver, measured in result["threads_of"].items()
    ]
    headings = ["", "training", *(f"top 5, {search}" for search in SEARCHES), "same bits"]
    return _table(f"Speed-up of {result['threads']} threads", headings, rows)


def _answer(differing: Sequence[str]) -> str:
    return f"no: {', '.join(differing)}" if differing else "yes"


def _latency(result: dict[str, Any]) -> str:
    rows = [
        [solver, search, f"{measured['median_ms']:.4f}", f"{measured['p99_ms']:.4f}"]
        for solver, searches in result["latency"].items()
        for search, measured in searches.items()
    ]
    return _table("One instance at a time, from Python, 1 thread", ["", "search", "median ms", "99 % ms"], rows)


def _phases(result: dict[str, Any]) -> str:
    costs = result["cost"]
    names = [name for name in PHASE_NAMES if any(name in cost["phases"] for cost in costs.values())]
    rows = [[name, *(_seconds(cost["phases"].get(name)) for cost in costs.values())] for name in names]
    rows.append(["all", *(_seconds(sum(cost["phases"].values())) for cost in costs.values())])
    rows.append(
        ["of the training: beside its passes", *(_seconds(max(cost["beside_seconds"], 0.0)) for cost in costs.values())]
    )
    rows.append(["passes that the training amounts to", *(f"{cost['passes']:.1f}" for cost in costs.values())])
    return _table("Where the seconds of a training go, 1 thread", ["", *costs], rows)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _pairs(result: dict[str, Any]) -> str:
    rows = []
    for solver, cost in result["cost"].items():
        limits = cost["limits"]
        line = [f"{cost['pairs'] / 1e6:.1f} M per pass", f"{cost['train_ns']:.3f}"]
        rows.append([f"{solver}: training", *line, *_nanoseconds(limits[LIMIT_OF[solver]])])
        for search in SEARCHES:
            line = [f"{cost['predict_pairs'][search]:.0f} per instance", f"{cost['predict_ns'][search]:.3f}"]
            rows.append([f"{solver}: top 5, {search}", *line, *_nanoseconds(limits["read"])])
    headings = ["", "pairs (non-zero, node)", "ours", "limit, cached", "limit, blocks", "limit, DRAM"]
    return _table("Nanoseconds per pair (non-zero, node) reached, 1 thread, and the machine's limit", headings, rows)


def _nanoseconds(limits: dict[str, float]) -> list[str]:
    return [f"{limits[place]:.3f}" for place in PLACES]
